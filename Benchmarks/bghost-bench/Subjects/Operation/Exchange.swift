// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import Glibc

/// One request of HTTP and its answer, over a connection that stays open.
struct Exchange {
    private let fd: Int32
    /// Lines of the head besides those that each request has.
    private let fields: [String]

    init(_ fd: Int32, fields: [String] = []) {
        self.fd = fd
        self.fields = fields
    }

    /// Sends a request and returns the body of its answer, which must be one of success.
    func call(_ method: String, _ path: String, body: String = "") throws -> ArraySlice<UInt8> {
        var lines = ["\(method) \(path) HTTP/1.1", "Content-Type: application/json"]
        lines += ["Content-Length: \(body.utf8.count)"] + fields
        var request = lines.joined(separator: "\r\n") + "\r\n\r\n" + body
        let sent = request.withUTF8 { write(fd, $0.baseAddress, $0.count) }
        guard sent == request.utf8.count else {
            throw BenchFailure(description: "cannot send a request")
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var end: Int?
        var start = 0
        while end.map({ answer.count < $0 }) ?? true {
            let count = read(fd, &buffer, buffer.count)
            guard count > 0 else { throw BenchFailure(description: "the daemon hung up") }
            answer += buffer[..<count]
            guard end == nil, let body = Self.bodyStart(answer) else { continue }
            start = body
            end = body + Self.length(String(decoding: answer[..<body], as: UTF8.self))
        }
        // "HTTP/1.1 2xx"
        guard answer.count > 9, answer[9] == UInt8(ascii: "2") else {
            throw BenchFailure(
                description: "the daemon says " + String(decoding: answer, as: UTF8.self)
            )
        }
        return answer[start...]
    }

    private static func bodyStart(_ answer: [UInt8]) -> Int? {
        let end = Array("\r\n\r\n".utf8)
        guard answer.count >= end.count else { return nil }
        return (end.count...answer.count).first { answer[($0 - end.count)..<$0].elementsEqual(end) }
    }

    private static func length(_ head: String) -> Int {
        for line in head.split(separator: "\r\n") {
            let words = line.split(separator: ":")
            guard words.count == 2, words[0].lowercased() == "content-length" else { continue }
            return Int(words[1].drop { $0 == " " }) ?? 0
        }
        return 0
    }
}

/// A client of the dashboard with a session of its own.
struct DashboardClient: ~Copyable {
    private let fd: Int32
    private let exchange: Exchange

    /// Begins a session.
    ///
    /// - Parameter address: what `bghost dashboard` says.
    init(_ address: DashboardAddress, ticket: String) throws {
        let first = try DashboardClient(address, fields: [])
        let answer = try first.call("POST", "/v1/web/session", body: #"{"ticket":"\#(ticket)"}"#)
        guard let token = try JSONReader.parse(Array(answer))["token"]?.string else {
            throw BenchFailure(description: "the session has no token")
        }
        try self.init(address, fields: ["Authorization: Bearer \(token)"])
    }

    private init(_ address: DashboardAddress, fields: [String]) throws {
        let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(truncatingIfNeeded: address.port).bigEndian
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, size) }
        }
        self.fd = fd
        exchange = Exchange(fd, fields: ["Host: 127.0.0.1:\(address.port)"] + fields)
        guard code == 0 else {
            throw BenchFailure(description: "cannot connect to port \(address.port)")
        }
    }

    deinit { close(fd) }

    @discardableResult
    func call(_ method: String, _ path: String, body: String = "") throws -> ArraySlice<UInt8> {
        try exchange.call(method, path, body: body)
    }

    /// What the overview asks each time that it refreshes.
    static let questions = ["/v1/status", "/v1/pending?limit=1", "/v1/runs?limit=50"]

    func refresh() throws {
        for path in Self.questions { try call("GET", path) }
    }
}

/// Where the dashboard is served.
struct DashboardAddress {
    let port: Int

    /// - Parameter url: with a ticket behind `#`.
    init?(_ url: String) {
        guard let colon = url.lastIndex(of: ":"),
            let port = Int(url[url.index(after: colon)...].prefix { $0.isNumber })
        else { return nil }
        self.port = port
    }
}
