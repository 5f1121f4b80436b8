// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The least client that the control socket has: one connection, one call after the other.
struct UnixClient: ~Copyable {
    private let fd: Int32

    init(_ path: String) throws {
        guard let fd = Self.connect(path) else {
            throw BenchFailure(description: "cannot connect to \(path)")
        }
        self.fd = fd
    }

    deinit { close(fd) }

    static func canConnect(_ path: String) -> Bool {
        guard let fd = connect(path) else { return false }
        close(fd)
        return true
    }

    private static func connect(_ path: String) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else {
            close(fd)
            return nil
        }
        return fd
    }

    /// Sends a request and reads its answer.
    func call(_ method: String, _ path: String, body: String = "") throws {
        var request =
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
        let sent = request.withUTF8 { write(fd, $0.baseAddress, $0.count) }
        guard sent == request.utf8.count else {
            throw BenchFailure(description: "cannot send a request")
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while !Self.isWhole(answer) {
            let count = read(fd, &buffer, buffer.count)
            guard count > 0 else { throw BenchFailure(description: "the daemon hung up") }
            answer += buffer[..<count]
        }
        // "HTTP/1.1 2xx"
        guard answer.count > 9, answer[9] == UInt8(ascii: "2") else {
            throw BenchFailure(
                description: "the daemon says " + String(decoding: answer, as: UTF8.self)
            )
        }
    }

    private static func isWhole(_ answer: [UInt8]) -> Bool {
        let text = String(decoding: answer, as: UTF8.self)
        let parts = text.split(
            separator: "\r\n\r\n",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        guard parts.count == 2 else { return false }
        for line in parts[0].split(separator: "\r\n") {
            let words = line.split(separator: ":")
            guard words.count == 2, words[0].lowercased() == "content-length",
                let length = Int(words[1].drop { $0 == " " })
            else { continue }
            return parts[1].utf8.count >= length
        }
        return false
    }
}
