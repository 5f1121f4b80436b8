// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Synchronization

/// HTTP over loopback, byte by byte as a test wants it.
enum Loopback {
    /// Holds a port of loopback.
    final class Holder {
        let port: Int
        private let fd: Int32

        /// - Parameter port: 0 for one that the kernel chooses.
        init(port: UInt16 = 0) throws {
            // A program that another test starts at this moment must not hold the port, too.
            let socket = Glibc.socket(AF_INET, Loopback.kind, 0)
            fd = socket
            var address = Loopback.address(port: port)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, length) == 0 && listen(socket, 1) == 0
                        && getsockname(socket, $0, &length) == 0
                }
            }
            self.port = isBound ? Int(UInt16(bigEndian: address.sin_port)) : 0
            guard isBound else { throw SystemCallError(call: "bind", code: errno) }
        }

        deinit { close(fd) }
    }

    private static let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

    /// Where the search for the next free port begins.
    private static let next = Atomic<UInt16>(UInt16(getpid() % 10_000))

    /// The ports of this process, each by a name that no other process of tests can bind meanwhile.
    private static let reserved = Mutex<[DatagramReceiver]>([])

    /// A port that no process uses at this moment, and that the kernel gives to none.
    ///
    /// It is below those that the kernel chooses, so no connection of another test gets it before its user
    /// listens on it; and each call returns another one, in this process and in those beside it.
    static func freePort() throws -> Int {
        for _ in 0..<1000 {
            let port = 20_000 + next.add(1, ordering: .relaxed).newValue % 12_000
            guard let name = try? DatagramReceiver("@bghost-test-port-\(port)"),
                let holder = try? Holder(port: port)
            else { continue }
            reserved.withLock { $0.append(name) }
            return holder.port
        }
        throw SystemCallError(call: "find a free port", code: EADDRINUSE)
    }
    /// Sends a request without a body, and reads the answer to its end.
    static func ask(
        _ port: Int,
        _ method: String,
        _ path: String,
        _ headers: [String]
    ) throws -> String {
        let fd = socket(AF_INET, kind, 0)
        defer { close(fd) }
        var address = address(port: UInt16(port))
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw SystemCallError(call: "connect", code: errno) }
        let length = method == "POST" ? ["Content-Length: 0"] : []
        let lines =
            ["\(method) \(path) HTTP/1.1"] + headers + length + ["Connection: close", "", ""]
        let bytes = Array(lines.joined(separator: "\r\n").utf8)
        guard write(fd, bytes, bytes.count) == bytes.count else {
            throw SystemCallError(call: "write", code: errno)
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(fd, &buffer, buffer.count)
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
