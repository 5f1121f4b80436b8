// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A Unix datagram socket that a test owns, in the place of the service manager's or the journal's.
package final class DatagramReceiver: Sendable {
    private let descriptor: Int32
    /// Its address as in `NOTIFY_SOCKET`: a path, or a name after `@`.
    package let address: String

    /// - Parameter address: a path that does not exist, or an abstract name after `@`.
    package init(_ address: String) throws(SystemCallError) {
        self.address = address
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemCallError(call: "socket", code: errno) }
        var bytes = Array(address.utf8)
        let isAbstract = bytes.first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(2 + bytes.count + (isAbstract ? 0 : 1))
        let answer = withUnsafePointer(to: name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length)
            }
        }
        guard answer == 0 else { throw SystemCallError(call: "bind \(address)", code: errno) }
    }

    deinit { close(descriptor) }

    /// The next datagram; `nil` if none comes for so long.
    package func receive(within seconds: Int32 = 120) -> [UInt8]? {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wanted, 1, seconds * 1000) == 1 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count >= 0 ? Array(buffer[..<count]) : nil
    }

    /// The next datagram as text; `nil` if none comes for so long.
    package func text(within seconds: Int32 = 120) -> String? {
        receive(within: seconds).map { String(decoding: $0, as: UTF8.self) }
    }
}
