// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostModel
import BghostControl
import BghostTestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct LogTests {
    @Test func `Filters what it holds`() async throws {
        try await Serving.with { serving in
            let host = serving.host
            let run = try await host.begin("com.acme.storm")
            host.say("one", task: "com.acme.storm", run: run.id)
            host.say("two", task: "com.acme.photos", level: .debug)
            host.say("three", level: .error)
            let prefix = String(run.id.description.prefix(10))
            let expected: [(ControlClient.LogQuery, [String])] = [
                (.init(), ["one", "two", "three"]),
                (.init(task: "com.acme.photos"), ["two"]),
                (.init(run: prefix), ["one"]),
                (.init(level: .info), ["one", "three"]),
                (.init(limit: 1), ["three"]),
                (.init(plugin: "other"), []),
            ]
            for (query, messages) in expected {
                let entries = try await serving.ask { try await $0.logs(query) }.value.entries
                // The host writes lines too.
                let own = entries.filter { $0.source == .handler }
                #expect(own.map(\.message) == messages, "\(query)")
            }
        }
    }

    @Test func `Times, texts and places select a page`() async throws {
        try await Serving.with { serving in
            for number in 1...5 { serving.host.say("Line \(number)") }
            let first = try await serving.ask { try await $0.logs(.init(text: "LINE", limit: 2)) }
            #expect(first.value.entries.map(\.message) == ["Line 4", "Line 5"])
            let second = try await serving.ask {
                try await $0.logs(.init(text: "line ", before: first.value.next, limit: 10))
            }
            #expect(second.value.entries.map(\.message) == ["Line 1", "Line 2", "Line 3"])
            #expect(second.value.next.isEmpty)
            let past = try await serving.ask {
                try await $0.logs(.init(until: "1970-01-01T00:00:00Z"))
            }
            #expect(past.value.entries.isEmpty)
            for query in [
                ControlClient.LogQuery(since: "soon"), .init(before: "x"), .init(before: "1-2"),
            ] {
                let fault = await #expect(throws: ControlFault.self) {
                    try await serving.ask { try await $0.logs(query) }
                }
                #expect(fault?.code == .badRequest, "\(query)")
            }
        }
    }

    @Test func `Follows until the client goes away`() async throws {
        try await Serving.with { serving in
            let host = serving.host
            host.say("before")
            let (lines, continuation) = AsyncStream<String>.makeStream()
            let following = Task {
                try await serving.ask { client in
                    try await client.followLogs(.init()) { line in
                        guard line.value.source == .handler else { return }
                        continuation.yield(line.value.message)
                    }
                }
            }
            var iterator = lines.makeAsyncIterator()
            #expect(await iterator.next() == "before")
            host.say("after")
            #expect(await iterator.next() == "after")
            following.cancel()
            await #expect(throws: CancellationError.self) { try await following.value }
            await host.untilFollowed(by: 0)
        }
    }

    @Test func `Notices a client that hangs up while nothing is said`() async throws {
        try await Serving.with { serving in
            try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send("GET /v1/logs?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(connection.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
            }
            await serving.host.untilFollowed(by: 0)
        }
    }

    @Test func `A stopping daemon ends its followers`() async throws {
        let (ended, continuation) = AsyncThrowingStream<Void, any Error>.makeStream()
        try await Serving.with { serving in
            // Awaited below, once the server has shut down.
            Task {
                do {
                    try await serving.ask { try await $0.followLogs(.init()) { _ in } }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            await serving.host.untilFollowed(by: 1)
        }
        for try await _ in ended {}
    }

    @Test func `Refuses an unknown level`() async throws {
        try await Serving.with { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "GET /v1/logs?follow=true&level=loud HTTP/1.1\r\nHost: localhost\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(answer.contains("trace, debug, info, warning, error, fault"))
        }
    }
}
