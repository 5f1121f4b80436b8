// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A Unix datagram socket that sends to one address.
///
/// It is not connected: a receiver that is restarted gets the next datagram. Any thread may use it.
struct DatagramSocket: ~Copyable, Sendable {
    private let socket: Descriptor
    private let address: sockaddr_un
    private let length: socklen_t

    /// - Parameter name: an absolute path, or the name of an abstract socket after `@`.
    init(to name: String) throws(SystemError) {
        var bytes = Array(name.utf8)
        let isAbstract = bytes.first == UInt8(ascii: "@")
        guard isAbstract || bytes.first == UInt8(ascii: "/"), !bytes.contains(0) else {
            throw SystemError("send to the socket", name, code: EAFNOSUPPORT)
        }
        if isAbstract { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let space = MemoryLayout.size(ofValue: address.sun_path)
        // A path ends with a zero byte; the length of an abstract name ends it.
        guard bytes.count + (isAbstract ? 0 : 1) <= space else {
            throw SystemError("send to the socket", name, code: ENAMETOOLONG)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let descriptor = Glibc.socket(
            AF_UNIX,
            Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue),
            0
        )
        guard descriptor >= 0 else { throw SystemError("open a socket", code: errno) }
        length = socklen_t(start + bytes.count + (isAbstract ? 0 : 1))
        self.address = address
        socket = Descriptor(owning: descriptor)
    }

    /// Sends one datagram.
    ///
    /// - Parameter mayBlock: whether to wait while the receiver's queue is full.
    /// - Returns: 0, or the error number.
    func send(_ bytes: [UInt8], mayBlock: Bool) -> Int32 {
        let flags = Int32(MSG_NOSIGNAL) | (mayBlock ? 0 : Int32(MSG_DONTWAIT))
        while true {
            let count = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(socket.raw, bytes, bytes.count, flags, $0, length)
                }
            }
            guard count < 0 else { return 0 }
            if errno != EINTR { return errno }
        }
    }
}
