// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// The sending and receiving of whole packets.
package enum PacketSocket {
    /// A connected pair: descriptors of the two ends.
    package static func pair() throws(SystemError) -> (Int32, Int32) {
        var fds: [Int32] = [-1, -1]
        try checked(bgs_packet_pair(&fds), "create a socket pair")
        return (fds[0], fds[1])
    }

    /// Has the kernel refuse, to their sender, descriptors that are sent to this end.
    ///
    /// They would be closed on arrival; until then they count as on their way, of which a user may have
    /// only so many. Kernels before 6.16 cannot.
    package static func refuseDescriptors(_ fd: Int32) { bgs_refuse_descriptors(fd) }

    /// Sends one packet; with `wait`, waits for room.
    ///
    /// - Returns: 0, or the error number.
    package static func send(_ fd: Int32, _ bytes: UnsafeRawBufferPointer, wait: Bool) -> Int32 {
        let sent = bgs_send(fd, bytes.baseAddress, bytes.count, wait ? 1 : 0)
        return sent < 0 ? Int32(0 - sent) : 0
    }

    /// Sends one packet and with it a copy of a descriptor.
    ///
    /// Does not wait.
    package static func send(
        _ fd: Int32,
        _ bytes: UnsafeRawBufferPointer,
        descriptor: Int32
    ) -> Int32 {
        let sent = bgs_send_descriptor(fd, bytes.baseAddress, bytes.count, descriptor)
        return sent < 0 ? Int32(0 - sent) : 0
    }

    /// Receives one packet into the buffer.
    ///
    /// - Returns: its bytes, 0 at the end, or a negative error number; `-EMSGSIZE` if it is larger
    ///   than the buffer. Descriptors that come along are closed unless asked for.
    package static func receive(
        _ fd: Int32,
        _ buffer: UnsafeMutableRawBufferPointer,
        wait: Bool,
        descriptor: UnsafeMutablePointer<Int32>? = nil
    ) -> Int {
        bgs_receive(fd, buffer.baseAddress, buffer.count, wait ? 1 : 0, descriptor)
    }
}
