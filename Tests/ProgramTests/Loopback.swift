// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc

/// HTTP over loopback, byte by byte as a test wants it.
enum Loopback {
    /// Holds a port of loopback.
    final class Holder {
        let port: Int
        private let fd: Int32

        init() throws {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            fd = socket
            var address = Loopback.address(port: 0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, length) == 0 && listen(socket, 1) == 0
                        && getsockname(socket, $0, &length) == 0
                }
            }
            port = isBound ? Int(UInt16(bigEndian: address.sin_port)) : 0
            guard isBound else { throw SystemCallError(call: "bind", code: errno) }
        }

        deinit { close(fd) }
    }

    /// A port that no process uses at this moment.
    static func freePort() throws -> Int { try Holder().port }

    /// Sends a request without a body, and reads the answer to its end.
    static func ask(
        _ port: Int,
        _ method: String,
        _ path: String,
        _ headers: [String]
    ) throws -> String {
        let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
