// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// Sends and receives whole packets.
package enum PacketSocket {
    /// Creates a connected pair; the caller owns both descriptors.
    package static func pair() throws(SystemError) -> (Int32, Int32) {
        var fds: [Int32] = [-1, -1]
        try checked(bgs_packet_pair(&fds), "create a socket pair")
        return (fds[0], fds[1])
    }

    /// Makes the kernel refuse descriptors that a peer sends to this end; the sender gets the
    /// error.
    ///
    /// Otherwise they are closed on arrival, and until then they count against the user's limit of
    /// descriptors in flight. Kernels before 6.16 do not support this.
    package static func refuseDescriptors(_ fd: Int32) { bgs_refuse_descriptors(fd) }

    /// Sends one packet; with `wait`, waits for space in the socket's buffer.
    ///
    /// - Returns: 0, or the error number.
    package static func send(_ fd: Int32, _ bytes: UnsafeRawBufferPointer, wait: Bool) -> Int32 {
        let sent = bgs_send(fd, bytes.baseAddress, bytes.count, wait ? 1 : 0)
        return sent < 0 ? Int32(0 - sent) : 0
    }

    /// Receives one packet into the buffer.
    ///
    /// - Returns: its length, 0 at the end, or a negative error number; `-EMSGSIZE` if it is larger
    ///   than the buffer. The kernel closes descriptors in the packet.
    package static func receive(
        _ fd: Int32,
        _ buffer: UnsafeMutableRawBufferPointer,
        wait: Bool
    ) -> Int {
        bgs_receive(fd, buffer.baseAddress, buffer.count, wait ? 1 : 0)
    }
}
