// SPDX-License-Identifier: Apache-2.0

@testable import BghostControl
import BghostTestSupport
import Testing

/// What a request asks of its connection.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct ConnectionHeaderTests {
    private static func request(
        _ version: String,
        _ fields: String,
        _ serving: DashboardServing
    ) -> String {
        "GET /healthz HTTP/\(version)\r\nHost: 127.0.0.1:\(serving.port)\r\n\(fields)\r\n"
    }

    @Test(arguments: [
        ("1.1", "Connection: close\r\n"), ("1.1", "connection: CLOSE\r\n"),
        ("1.1", "Connection: TE, Close\r\n"), ("1.0", ""), ("1.0", "Connection: TE\r\n"),
    ])
    func `The connection is closed after the answer`(version: String, fields: String) async throws {
        try await DashboardServing.with(limits: .patient) { serving in
            let answer = try await onThread {
                let connection = try RawConnection(port: serving.port)
                connection.send(Self.request(version, fields, serving))
                return connection.receiveAll()
            }
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
            #expect(answer.contains("\r\nConnection: close\r\n"), "\(answer)")
        }
    }

    @Test(arguments: [
        ("1.1", ""), ("1.1", "Connection: TE\r\n"), ("1.0", "Connection: Keep-Alive\r\n"),
    ])
    func `The connection serves a second request`(version: String, fields: String) async throws {
        try await DashboardServing.with(limits: .patient) { serving in
            let answers = try await onThread {
                let connection = try RawConnection(port: serving.port)
                return (0..<2).map { _ in
                    connection.send(Self.request(version, fields, serving))
                    return connection.receiveAnswer()
                }
            }
            #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 200 ") }, "\(answers)")
            #expect(!answers.contains { $0.contains("\r\nConnection: close\r\n") }, "\(answers)")
        }
    }

    /// The head of a login with a body of a length.
    private static func login(_ length: Int, _ expect: String, _ serving: DashboardServing)
        -> String
    {
        "POST /v1/web/session HTTP/1.1\r\nHost: 127.0.0.1:\(serving.port)\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(length)\r\n\(expect)\r\n"
    }

    @Test(arguments: ["Expect: 100-continue\r\n", "expect: 100-Continue\r\n"])
    func `A client that waits to send its body is told to`(expect: String) async throws {
        try await DashboardServing.with(limits: .patient) { serving in
            let body = #"{"ticket":"0123"}"#
            let (first, answer) = try await onThread {
                let connection = try RawConnection(port: serving.port)
                connection.send(Self.login(body.utf8.count, expect, serving))
                let first = connection.receive(until: "\r\n\r\n")
                connection.send(body)
                return (first, connection.receiveAnswer())
            }
            #expect(first == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 401 "), "\(answer)")
        }
    }

    @Test func `A client that waits to send a body that is too large is refused at once`()
        async throws
    {
        try await DashboardServing.with(limits: .patient) { serving in
            let answer = try await onThread {
                let connection = try RawConnection(port: serving.port)
                connection.send(
                    Self.login(
                        ControlLimits.bodyBytesMax + 1,
                        "Expect: 100-continue\r\n",
                        serving
                    )
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer)")
        }
    }
}
