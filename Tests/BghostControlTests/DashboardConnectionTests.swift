// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostControl
import BghostModel
import BghostTestSupport
import Testing

/// What connections to the dashboard's port leave to others when all of them are in use.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct DashboardConnectionTests {
    private static var limits: ControlLimits {
        var limits = ControlLimits.patient
        limits.connectionsMax = 4
        return limits
    }

    /// Connects more often than the server accepts, and sends this each time.
    private func flood(_ port: Int, with text: String = "") async throws -> [RawConnection] {
        try await onThread {
            try (0..<8).map { _ in
                let connection = try RawConnection(port: port)
                connection.send(text)
                return connection
            }
        }
    }

    /// The answer to a client that tries again.
    ///
    /// A connection that is accepted together with those of a flood may make room for one of them.
    private func answer(
        _ serving: DashboardServing,
        _ line: String,
        _ token: String? = nil
    ) async throws -> String {
        var answer = ""
        while answer.isEmpty { answer = try await serving.answer(line, token: token) }
        return answer
    }

    /// Follows the log in a session; the head of the answer has come.
    private func stream(_ serving: DashboardServing, _ token: String) async throws -> RawConnection
    {
        let port = serving.port
        return try await onThread {
            let connection = try RawConnection(port: port)
            connection.send(
                "GET /v1/logs?follow=true HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                    + "Authorization: Bearer \(token)\r\n\r\n"
            )
            #expect(connection.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
            return connection
        }
    }

    @Test(arguments: [
        "", "GET /healthz HTTP/1.1\r\nHost: ",
        "POST /v1/web/session HTTP/1.1\r\nContent-Length: 9\r\n\r\n{",
    ])
    func `Connections without a whole request make room`(text: String) async throws {
        try await DashboardServing.with(limits: Self.limits) { serving in
            let token = try serving.session()
            let silent = try await flood(serving.port, with: text)
            for (line, token) in [("GET /healthz", nil), ("GET /", nil), ("GET /v1/runs", token)] {
                let answer = try await self.answer(serving, line, token)
                #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(line): \(answer)")
            }
            withExtendedLifetime(silent) {}
        }
    }

    @Test func `Connections that rest after an answer make room`() async throws {
        try await DashboardServing.with(limits: Self.limits) { serving in
            let request = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:\(serving.port)\r\n\r\n"
            let resting = try await flood(serving.port, with: request)
            let answer = try await self.answer(serving, "GET /healthz")
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
            withExtendedLifetime(resting) {}
        }
    }

    @Test func `A request of a session keeps its connection`() async throws {
        try await DashboardServing.with(limits: Self.limits) { serving in
            let follower = try await stream(serving, serving.session(uid: 0))
            let silent = try await flood(serving.port)
            let answer = try await self.answer(serving, "GET /healthz")
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
            serving.host.say("still followed")
            let line = try await onThread { follower.receive(until: "still followed") }
            #expect(line.contains("still followed"), "\(line)")
            withExtendedLifetime(silent) {}
        }
    }

    @Test func `Members of the group keep half of the connections`() async throws {
        try await DashboardServing.with(limits: Self.limits) { serving in
            let reader = try serving.session(.read, uid: 99)
            var streams: [RawConnection] = []
            for _ in 0..<6 { streams.append(try await stream(serving, reader)) }
            let answer = try await serving.answer(
                "GET /v1/status",
                token: try serving.session(uid: 0)
            )
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
            serving.host.say("still followed")
            for stream in streams.prefix(2) {
                let line = try await onThread { stream.receive(until: "still followed") }
                #expect(line.contains("still followed"), "\(line)")
            }
        }
    }
}
