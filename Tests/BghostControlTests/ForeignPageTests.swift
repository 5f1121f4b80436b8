// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostModel
import BghostControl
import Testing

/// Requests that a browser page can send if the control socket is forwarded to a port.
@Suite(.timeLimit(.minutes(5))) struct ForeignPageTests {
    private static func answer(_ serving: Serving, _ request: String) async throws -> String {
        try await onThread {
            let connection = try RawConnection(serving.socketPath)
            connection.send(request)
            return connection.receive(until: "}\n")
        }
    }

    @Test(arguments: [
        "Host: localhost\r\nOrigin: https://evil.example",
        "Host: localhost:8080\r\nOrigin: http://localhost:8080",
        "Host: localhost\r\nOrigin: null",
        "Host: localhost\r\nSec-Fetch-Site: cross-site",
        "Host: localhost\r\nSec-Fetch-Site: same-site",
        "Host: localhost\r\nSec-Fetch-Site: same-origin",
        "Host: localhost\r\nReferer: https://evil.example/page",
        "Host: localhost\r\nHost: evil.example", "Host: localhost\r\nhost: localhost",
        // A name of the page's own that leads to this machine.
        "Host: evil.example:8080", "Host: localhost.evil.example", "Host: 127.0.0.1.evil.example",
        "Host: 10.1.2.3",
    ])
    func `A web page can read nothing and change nothing`(fields: String) async throws {
        try await Serving.with { serving in
            for line in ["GET /v1/status", "POST /v1/tasks/com.acme.storm/trigger"] {
                let answer = try await Self.answer(serving, "\(line) HTTP/1.1\r\n\(fields)\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(line): \(answer)")
                #expect(answer.contains(#""code":"BG2120""#))
            }
            #expect(await serving.host.control.runs(task: nil, limit: 10).isEmpty)
        }
    }

    /// What a form can send, and a script without being asked.
    @Test(arguments: [
        "Content-Type: text/plain", "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: multipart/form-data; boundary=x", "X: y",
    ])
    func `A body of another content type changes nothing`(field: String) async throws {
        let body = #"{"task":"com.acme.storm"}"#
        try await Serving.with { serving in
            let answer = try await Self.answer(
                serving,
                "POST /v1/submit HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            #expect(answer.hasPrefix("HTTP/1.1 415 "), "\(answer)")
            #expect(answer.contains(#""code":"BG2121""#))
            #expect(await serving.host.control.runs(task: nil, limit: 10).isEmpty)
        }
    }

    @Test(arguments: [
        "Host: localhost", "Host: localhost:8080", "Host: 127.0.0.1:8080", "Host: [::1]:8080",
        "Host: bghost", "Host: LOCALHOST", "Host: localhost\r\nSec-Fetch-Site: none",
    ])
    func `Programs that are no browsers are served`(fields: String) async throws {
        try await Serving.with { serving in
            let look = "GET /v1/status HTTP/1.1\r\n\(fields)\r\n\r\n"
            let seen = try await Self.answer(serving, look)
            #expect(seen.hasPrefix("HTTP/1.1 200 "))
            let body = #"{"task":"com.acme.storm"}"#
            let write =
                "POST /v1/submit HTTP/1.1\r\n\(fields)\r\n"
                + "Content-Type: application/json; charset=utf-8\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            let taken = try await Self.answer(serving, write)
            #expect(taken.hasPrefix("HTTP/1.1 202 "))
        }
    }
}
