// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc

/// A connection to a Unix socket, or to a port of this machine, whose bytes a test chooses.
///
/// Blocking: use it in `onThread`.
final class RawConnection: Sendable {
    let fd: Int32

    init(_ path: String) throws {
        fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try Self.withAddress(path) { address, size in
            guard connect(fd, address, size) == 0 else {
                throw SystemCallError(call: "connect", code: errno)
            }
        }
    }

    /// Connects to a port of 127.0.0.1.
    init(port: Int) throws {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, size) }
        }
        guard status == 0 else { throw SystemCallError(call: "connect", code: errno) }
    }

    deinit { close(fd) }

    /// Sends all bytes; `false` if the other end has closed.
    @discardableResult
    func send(_ text: String) -> Bool { send(bytes: Array(text.utf8)) }

    /// Sends all bytes; `false` if the other end has closed.
    @discardableResult
    func send(bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// What comes until the text contains this; all of it if the other end closes first.
    func receive(until end: String) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: bytes, as: UTF8.self).contains(end) {
            let count = recv(fd, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// One answer with its body; less if the other end closes first.
    func receiveAnswer() -> String { receiveAnswer(after: []) }

    /// The rest of an answer of which some has come.
    func receiveAnswer(after start: [UInt8]) -> String {
        var bytes = start
        var buffer = [UInt8](repeating: 0, count: 4096)
        while Self.length(ofAnswer: bytes).map({ bytes.count < $0 }) ?? true {
            let count = recv(fd, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// How long an answer is with its body, by what has come of it; `nil` before the end of its head.
    private static func length(ofAnswer bytes: [UInt8]) -> Int? {
        guard let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let field = "content-length: "
        let line = String(decoding: bytes[..<head.lowerBound], as: UTF8.self)
            .split(separator: "\r\n").first { $0.lowercased().hasPrefix(field) }
        return head.upperBound + (line.flatMap { Int($0.dropFirst(field.count)) } ?? 0)
    }

    /// What comes until the other end closes.
    func receiveAll() -> String { receive(until: "\u{0}never") }

    /// Whether something can be read within this time, an end included.
    func isReadable(within milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, milliseconds) == 1
    }

    /// A listener that never answers.
    ///
    /// The caller closes it.
    static func listener(_ path: String) throws -> Int32 {
        let fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try withAddress(path) { address, size in
            guard bind(fd, address, size) == 0, listen(fd, 1) == 0 else {
                throw SystemCallError(call: "bind", code: errno)
            }
        }
        return fd
    }

    /// Leaves the socket of a listener that has ended.
    static func endedListener(_ path: String) throws {
        let fd = try listener(path)
        // Children of other tests may have a copy of the descriptor until they execute a program.
        shutdown(fd, Int32(SHUT_RDWR))
        close(fd)
    }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
