// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A server of HTTP on loopback that keeps what it is sent.
package final class HTTPReceiver: Sendable {
    package struct Request: Sendable {
        package var method: String
        /// The path with its query.
        package var target: String
        /// By name in lower case.
        package var headers: [String: String]
        package var body: String
    }

    private struct State {
        var requests: [Request] = []
        var statuses: [Int] = []
        var headers: [String] = []
        var body = ""
        var isHolding = false
        /// Connections whose requests get no answer.
        var held: [Int32] = []
        var isClosed = false
    }

    package let port: Int
    private let listener: Int32
    /// Has a byte for each request.
    private let arrived: (reading: Int32, writing: Int32)
    private let state = Mutex(State())

    /// - Parameter refuses: whether it only keeps its port, which refuses all connections.
    package init(refuses: Bool = false) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && (refuses || listen(listener, 64) == 0)
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw SystemCallError(call: "bind", code: errno) }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        arrived = try Descriptor.pipe()
    }

    deinit {
        Glibc.close(listener)
        Glibc.close(arrived.reading)
        Glibc.close(arrived.writing)
    }

    /// Answers until ``stop()``, on another thread.
    package func start() {
        // Of the threads of a queue there may be no more than processors, and it blocks its own.
        FileServer.onOwnThread { [self] in
            while true {
                let connection = Descriptor.accept(listener)
                guard connection >= 0, !state.withLock(\.isClosed) else {
                    if connection >= 0 { Glibc.close(connection) }
                    return
                }
                if !serve(connection) { Glibc.close(connection) }
            }
        }
    }

    package func stop() {
        let held = state.withLock { state in
            state.isClosed = true
            defer { state.held = [] }
            return state.held
        }
        for connection in held { Glibc.close(connection) }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Answers no further request, and keeps their connections open until ``stop()``.
    package func hold() { state.withLock { $0.isHolding = true } }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// Answers the next requests with these statuses; then with 200.
    ///
    /// - Parameters:
    ///   - headers: lines `Name: value` of each answer.
    ///   - body: the body of each answer.
    package func answer(_ statuses: [Int], headers: [String] = [], body: String = "") {
        state.withLock { ($0.statuses, $0.headers, $0.body) = (statuses, headers, body) }
    }

    package var requests: [Request] { state.withLock { $0.requests } }

    /// Waits for a request, also an earlier one.
    ///
    /// - Returns: `nil` if none came within the time, or within it after another one.
    package func request(
        within seconds: Int32 = 600,
        where isWanted: (Request) -> Bool
    ) -> Request? {
        while true {
            if let found = requests.first(where: isWanted) { return found }
            guard another(within: seconds) else { return nil }
        }
    }

    /// Waits until there are so many requests.
    package func has(_ count: Int, within seconds: Int32 = 600) -> Bool {
        while requests.count < count {
            guard another(within: seconds) else { return false }
        }
        return true
    }

    /// Waits until each request has been taken that was sent before this call.
    ///
    /// Connections are served one after the other, so a request of the test comes after all of them.
    package func takeAll() {
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { Glibc.close(connection) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected, shutdown(connection, Int32(SHUT_WR)) == 0 else { return }
        // It hangs up on a connection without a request.
        var byte: UInt8 = 0
        _ = read(connection, &byte, 1)
    }

    /// Waits for one more request.
    package func another(within seconds: Int32) -> Bool {
        var wanted = pollfd(fd: arrived.reading, events: Int16(POLLIN), revents: 0)
        guard poll(&wanted, 1, seconds * 1000) == 1 else { return false }
        var byte: UInt8 = 0
        return read(arrived.reading, &byte, 1) == 1
    }

    /// - Returns: whether the connection stays open.
    private func serve(_ connection: Int32) -> Bool {
        var bytes: [UInt8] = []
        guard let request = receive(connection, &bytes) else { return false }
        let answer = state.withLock { state -> [UInt8]? in
            state.requests.append(request)
            guard !state.isHolding else {
                state.held.append(connection)
                return nil
            }
            let status = state.statuses.isEmpty ? 200 : state.statuses.removeFirst()
            let headers = state.headers.map { $0 + "\r\n" }.joined()
            return Array(
                """
                HTTP/1.1 \(status) x\r\n\(headers)Content-Length: \(state.body.utf8.count)\r\n\
                Connection: close\r\n\r\n\(state.body)
                """.utf8
            )
        }
        // A client that has been killed meanwhile must not end the tests by SIGPIPE.
        if let answer { _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL)) }
        _ = write(arrived.writing, [1], 1)
        return answer == nil
    }

    private func receive(_ connection: Int32, _ bytes: inout [UInt8]) -> Request? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            if let request = Self.parse(bytes) { return request }
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func parse(_ bytes: [UInt8]) -> Request? {
        let end = Array("\r\n\r\n".utf8)
        guard let split = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else {
            return nil
        }
        let lines = String(decoding: bytes[..<split], as: UTF8.self).split(separator: "\r\n")
        let first = (lines.first ?? "").split(separator: " ")
        guard first.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        let body = bytes[(split + 4)...]
        guard body.count >= headers["content-length"].flatMap({ Int($0) }) ?? 0 else { return nil }
        return Request(
            method: String(first[0]),
            target: String(first[1]),
            headers: headers,
            body: String(decoding: body, as: UTF8.self)
        )
    }
}
