// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostControl
import BghostTestSupport
import Glibc
import Testing

/// Requests that are nearly right, to the real server: each is answered in the API's own form, or
/// its connection is closed.
@Suite(.timeLimit(.minutes(5))) struct HostileRequestTests {
    private static let requests = [
        "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nBghost-Version: \(BghostVersion.text)\r\n\r\n",
        "GET /v1/runs?task=com.acme.storm&limit=50 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/runs/01KAQ2V3 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/requests/01KAQ2V3W4X5Y6Z7A8B9C0D1E2/run HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/pending?limit=10 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/logs?level=info&limit=3&run=01 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/why?id=com.acme.%2A HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /v1/simulate/clock?set=%2B6h HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/simulate/fact?set=network%3Doff HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/dead/redrive?task=a&all=true HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/plugins/storm/disable?reason=a%0Ab&stop=true HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: 0\r\n\r\n",
        "DELETE /v1/tasks/com.acme.storm/pending HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /v1/tasks/com.acme.storm/trigger HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n"
            + #"{"parameters":{"a":1}"#,
        "POST /v1/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "19\r\n" + #"{"task":"com.acme.storm"}"# + "\r\n0\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nUpgrade: h2c\r\n\r\n",
    ]

    private static let words = [
        "%00", "%ff", "%2F", "..", "//", "?", "&", "=", "#", "\r\n", "\n", "\u{1B}[2J", "\u{202E}",
        "Content-Length: 9\r\n", "Transfer-Encoding: chunked\r\n", "-1", "99999999999999999999",
        " ", "\t", "HTTP/1.0", "HTTP/9.9", "GET ", "PATCH ", "Host: \r\n", "Connection: close\r\n",
    ]

    @Test(arguments: SeededGenerator.seeds(4))
    func `The server answers or closes malformed requests`(seed: UInt64) async throws {
        var limits = ControlLimits.patient
        // For incomplete requests; the server answers complete ones in time also on a busy machine.
        limits.receiveTime = .milliseconds(300)
        limits.idleTime = .milliseconds(300)
        try await Serving.with(limits: limits) { serving in
            try await onThread {
                var random = SeededGenerator(seed: seed)
                var answered = 0
                for number in 0..<120 {
                    let request = Self.mutated(&random)
                    let connection = try RawConnection(serving.socketPath)
                    connection.send(bytes: request)
                    shutdown(connection.fd, Int32(SHUT_WR))
                    let answer = connection.receiveAll()
                    answered += answer.isEmpty ? 0 : 1
                    let problem = Self.problem(answer)
                    let shown = String(decoding: request, as: UTF8.self)
                    #expect(problem == nil, "seed \(seed), request \(number): \(shown)")
                }
                #expect(answered > 20)
            }
            // The server still answers valid requests, those that a busy machine sends in time.
            try await onThread {
                let request = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
                var answer = ""
                while answer.isEmpty {
                    let connection = try RawConnection(serving.socketPath)
                    connection.send(request)
                    answer = connection.receiveAnswer()
                }
                #expect(answer.hasPrefix("HTTP/1.1 200 "))
            }
        }
    }

    private static func mutated(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array((requests.randomElement(using: &random) ?? "").utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            let count = min(bytes.count - place, Int.random(in: 1...8, using: &random))
            let word = Array((words.randomElement(using: &random) ?? "").utf8)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where count > 0: bytes[place] = .random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(place..<place + count)
            case 2: bytes.replaceSubrange(place..<place + count, with: word)
            case 3: bytes.insert(contentsOf: bytes[place..<place + count], at: place)
            default: bytes.insert(contentsOf: word, at: place)
            }
        }
        return bytes
    }

    /// What is wrong with an answer, or with one of several; `nil` if nothing is.
    private static func problem(_ answer: String) -> String? {
        guard !answer.isEmpty else { return nil }
        guard answer.hasPrefix("HTTP/1.") else { return "it is no answer: \(answer)" }
        if answer.contains(" 500 Internal Server Error\r\n") { return "it met a fault of its own" }
        guard answer.contains("application/json\r\n") else { return nil }
        // Each answer is an object with its schema.
        guard answer.contains("\r\n\r\n{\""), answer.contains("\"schema\":\"bghost.") else {
            return "it is JSON of another form: \(answer)"
        }
        return nil
    }
}
