// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostModel
@testable import BghostControl
import BghostPolicy
import BghostTestSupport
import Glibc
import Synchronization
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct LimitTests {
    private static let status = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test func `Refuses a large body that is declared`() async throws {
        try await Serving.with { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 262145\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
            #expect(answer.contains(#""code":"BG4022""#))
        }
    }

    @Test func `Refuses a large body in pieces`() async throws {
        try await Serving.with { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                let piece = "8000\r\n" + String(repeating: " ", count: 0x8000) + "\r\n"
                for _ in 0..<9 { connection.send(piece) }
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test func `Takes a body of the full size`() async throws {
        try await Serving.with { serving in
            let frame = #"{"parameters":{}}"#.utf8.count
            // Parameters have a lower limit.
            let filling = String(repeating: " ", count: ControlLimits.bodyBytesMax - frame)
            let body = #"{"parameters":\#(filling){}}"#
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/tasks/com.acme.storm/trigger HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
                )
                return connection.receive(until: "\r\n")
            }
            #expect(answer.hasPrefix("HTTP/1.1 202 "))
        }
    }

    @Test func `The client does not send what is too large`() async throws {
        try await Serving.with { serving in
            let filling = String(repeating: "x", count: ControlLimits.bodyBytesMax)
            let submission = Submission(
                task: "com.acme.storm",
                parameters: #"{"x":"\#(filling)"}"#
            )
            let fault = await fault {
                _ = try await serving.ask { try await $0.submit(submission) }
            }
            #expect(fault?.code == .bodyTooLarge)
        }
    }

    @Test(arguments: ["X-Long: " + String(repeating: "x", count: 20_000), many])
    func `Refuses a large head`(fields: String) async throws {
        try await Serving.with { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send("GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n\r\n")
                return connection.receiveAll()
            }
            #expect(!answer.contains("bghost.status/1"))
        }
    }

    private static let many = (0..<100).map { "X-\($0): y" }.joined(separator: "\r\n")

    @Test func `Garbage is answered or closed`() async throws {
        try await Serving.with { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send("\u{0}\u{1}\u{2} hello\r\n\r\n")
                return connection.receiveAll()
            }
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400 "))
            _ = try await serving.ask { try await $0.status() }
        }
    }

    // MARK: - Slow clients

    @Test(arguments: [
        "", "GET /v1/st", "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n",
        "POST /v1/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    ])
    func `Closes on a request that is never completed`(text: String) async throws {
        var limits = ControlLimits.patient
        limits.receiveTime = .milliseconds(100)
        try await Serving.with(limits: limits) { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(text)
                return connection.receiveAll()
            }
            #expect(answer.isEmpty)
        }
    }

    @Test(arguments: [
        "GET /v1/status HTTP/1.1\r\nX: ",
        "POST /v1/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n",
    ])
    func `A byte now and then does not extend the time`(text: String) async throws {
        var limits = ControlLimits.patient
        limits.receiveTime = .milliseconds(300)
        try await Serving.with(limits: limits) { serving in
            try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(text)
                // Ends when the server closes; otherwise the time limit of the test ends it.
                while connection.send("x"), !connection.isReadable(within: 20) {}
            }
        }
    }

    @Test func `Closes an idle connection behind an answer`() async throws {
        var limits = ControlLimits.patient
        limits.idleTime = .milliseconds(50)
        try await Serving.with(limits: limits) { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(Self.status)
                return connection.receiveAll()
            }
            #expect(answer.contains("bghost.status/1"))
        }
    }

    @Test func `A wait outlasts the deadlines`() async throws {
        // On a busy machine the request itself may be late for the shorter times.
        for milliseconds: Int32 in [1000, 10_000, 40_000] {
            var limits = ControlLimits.patient
            limits.receiveTime = .milliseconds(Int(milliseconds))
            limits.idleTime = .milliseconds(100)
            let isOpen = Mutex(false)
            try await Serving.with(limits: limits) { serving in
                let run = try await serving.host.begin("com.acme.storm")
                try await onThread {
                    let connection = try RawConnection(serving.socketPath)
                    connection.send(
                        "GET /v1/requests/\(run.request)/run HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    )
                    let isEnded = connection.isReadable(within: milliseconds * 3 / 2)
                    isOpen.withLock { $0 = !isEnded }
                }
            }
            if isOpen.withLock({ $0 }) { return }
        }
        Issue.record("each wait ended at a deadline")
    }

    @Test func `Closes on a client that does not take its answer`() async throws {
        var limits = ControlLimits.patient
        limits.stallTime = .milliseconds(200)
        let filling = String(repeating: "x", count: 200 << 10)
        try await Serving.with(limits: limits) { serving in
            for _ in 0..<12 {
                let run = try await serving.host.begin("com.acme.storm")
                let result = #"{"x":"\#(filling)"}"#
                try await serving.host.end(run, result: result)
            }
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send("GET /v1/runs?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                // Hung up, and not merely readable.
                var end = pollfd(fd: connection.fd, events: 0, revents: 0)
                #expect(poll(&end, 1, -1) == 1)
                return connection.receiveAll()
            }
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(!answer.hasSuffix("}\n"))
            _ = try await serving.ask { try await $0.status() }
        }
    }

    // MARK: - Many clients

    @Test func `Further connections wait for a free place`() async throws {
        var limits = ControlLimits.patient
        limits.connectionsMax = 2
        try await Serving.with(limits: limits) { serving in
            try await onThread {
                var held: [RawConnection] = []
                for _ in 0..<2 {
                    let connection = try RawConnection(serving.socketPath)
                    connection.send(Self.status)
                    #expect(connection.receive(until: "bghost.status/1").contains(" 200 "))
                    held.append(connection)
                }
                let third = try RawConnection(serving.socketPath)
                third.send(Self.status)
                #expect(!third.isReadable(within: 200))
                held.removeFirst()
                #expect(third.receive(until: "bghost.status/1").contains(" 200 "))
            }
        }
    }
}
