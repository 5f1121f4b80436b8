// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostControl
import BghostTestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct RouteTests {
    @Test func `Tells its version`() async throws {
        try await Serving.with { serving in
            let answer = try await serving.ask { try await $0.version() }
            #expect(answer.value.version == BghostVersion.text)
            #expect(answer.json.contains(#""schema":"bghost.version/1""#))
        }
    }

    @Test func `Status arrives whole`() async throws {
        try await Serving.with { serving in
            let host = serving.host
            try await host.end(
                try await host.begin("com.acme.storm"),
                status: -1,
                message: "no network"
            )
            try await host.begin("com.acme.storm")
            // With the date, its predicted start is the same in both answers.
            let later: Int64 = 4_102_444_800_000_000_000
            let waiting = Submission(task: "com.acme.photos", earliestBegin: later)
            _ = try await host.control.submit(waiting)
            let answer = try await serving.ask { try await $0.status() }
            let arrived = TestHost.text(answer.value)
            let own = TestHost.text(await host.control.status())
            #expect(arrived == own)
            let tasks = answer.value.tasks.sorted { $0.identifier > $1.identifier }
            #expect(tasks.map { $0.last?.outcome } == [.failed, nil])
            #expect(tasks.map(\.running.count) == [1, 0])
        }
    }

    // MARK: - Requests

    @Test func `The deepest parameters can be read`() async throws {
        try await Serving.with { serving in
            // The body of the request is one level more.
            let parameters = APISamples.json(depth: JSONReader.depthMax - 1)
            await serving.host.holdPlugin()
            try await serving.ask { client in
                let submission = Submission(task: "com.acme.storm", parameters: parameters)
                let request = try await client.submit(submission).value
                #expect(request.parameters == parameters)
                let status = try await client.status().value
                #expect(status.tasks.contains { $0.pending?.parameters == parameters })
            }
        }
    }

    @Test func `Submits what was sent`() async throws {
        try await Serving.with { serving in
            await serving.host.holdPlugin()
            let submission = Submission(
                task: "com.acme.storm",
                parameters: #"{"city":"Köln","n":1e400}"#,
                earliestBegin: 1_800_000_000_000_000_000,
                tolerance: 90_000_000_000,
                priority: 700
            )
            let pending = try await serving.ask { try await $0.submit(submission) }.value
            #expect(pending.parameters == submission.parameters)
            #expect(pending.earliestBegin == submission.earliestBegin)
            #expect(pending.priority == 700)
            #expect(pending.tolerance == submission.tolerance)
            #expect(!pending.waitingFor.isEmpty)
            let status = await serving.host.control.status()
            let own = try #require(status.tasks.first { $0.identifier == submission.task }?.pending)
            #expect(own.id == pending.id && own.parameters == pending.parameters)
            #expect(own.waitingFor == pending.waitingFor)
        }
    }

    @Test(arguments: [
        ("[]", "an array"), ("{", "no JSON"), (#"{"tsak":"x"}"#, "tsak"),
        ("{}", "`task` is missing"),
        (#"{"task":7}"#, "a number"), (#"{"task":"a","parameters":[]}"#, "an array"),
        (#"{"task":"a","earliestBegin":"soon"}"#, "RFC 3339"),
        (#"{"task":"a","toleranceSeconds":-1}"#, "0 to 2592000"),
        (#"{"task":"a","toleranceSeconds":2592001}"#, "0 to 2592000"),
        (#"{"task":"a","toleranceSeconds":"1m"}"#, "toleranceSeconds"),
        (#"{"task":"a","priority":1001}"#, "0 to 1000"), (#"{"task":"a","task":"b"}"#, "twice"),
        (#"{"task":"a","priority":99999999999999999999}"#, "0 to 1000"),
    ])
    func `Refuses bad bodies`(body: String, part: String) async throws {
        try await Serving.with { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(answer.contains(#""code":"BG4020""#))
            #expect(answer.contains(part))
        }
    }

    @Test func `Tells why a submission is refused`() async throws {
        try await Serving.with { serving in
            let fault = await fault {
                _ = try await serving.ask { try await $0.trigger(Submission(task: "com.acme.no")) }
            }
            #expect(fault?.code == .notPermitted)
            #expect(fault?.message.contains("com.acme.no") == true)
        }
    }

    @Test func `Trigger waits if asked to`() async throws {
        try await Serving.with { serving in
            async let waiting = onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/tasks/com.acme.storm/trigger?wait=true HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            try await serving.host.end(try await serving.host.nextRun())
            let answer = try await waiting
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(answer.contains(#""outcome":"succeeded""#))
        }
    }

    @Test func `Waits for the end of a run`() async throws {
        try await Serving.with { serving in
            let host = serving.host
            let answer = try await serving.ask { client in
                let pending = try await client.trigger(Submission(task: "com.acme.storm")).value
                async let end = client.endedRun(ofRequest: pending.id)
                await host.untilAwaited(pending.id)
                await host.kill(try await host.nextRun(), for: .graceExceeded, message: "")
                return try await end
            }
            #expect(answer.value.outcome == .killed(.graceExceeded))
        }
    }

    @Test func `A client continues after a wait`() async throws {
        try await Serving.with { serving in
            try await serving.ask { client in
                for _ in 0..<5 {
                    let pending = try await client.trigger(Submission(task: "com.acme.storm"))
                    try await serving.host.end(try await serving.host.nextRun())
                    let ended = try await client.endedRun(ofRequest: pending.value.id).value
                    #expect(ended.outcome == .succeeded)
                    await #expect(throws: ControlFault.self) {
                        try await client.endedRun(ofRequest: RunID(high: 1, low: 2))
                    }
                    let runs = try await client.runs(task: nil, limit: 100).value
                    #expect(runs.contains(ended))
                }
            }
        }
    }

    @Test func `A request without a run is said to have none`() async throws {
        try await Serving.with { serving in
            let fault = await fault {
                _ = try await serving.ask {
                    try await $0.endedRun(ofRequest: RunID(high: 1, low: 2))
                }
            }
            #expect(fault?.code == .endedWithoutRun)
        }
    }

    @Test func `A stopping daemon ends waits`() async throws {
        let (ended, continuation) = AsyncStream<ControlFault?>.makeStream()
        try await Serving.with { serving in
            let run = try await serving.host.begin("com.acme.storm")
            // Awaited below, once the server has shut down.
            Task {
                let fault = await fault {
                    _ = try await serving.ask { try await $0.endedRun(ofRequest: run.request) }
                }
                continuation.yield(fault)
                continuation.finish()
            }
            await serving.host.untilAwaited(run.request)
        }
        for await fault in ended { #expect(fault?.code == .stopping) }
    }

    @Test func `Withdraws a request once`() async throws {
        try await Serving.with { serving in
            try await serving.ask { client in
                await serving.host.holdPlugin()
                let request = try await client.submit(Submission(task: "com.acme.storm")).value
                let cancelled = try await client.cancelPending(task: "com.acme.storm").value
                #expect(cancelled.requests.map(\.id) == [request.id] && cancelled.count == 1)
                let again = await fault {
                    _ = try await client.cancelPending(task: "com.acme.storm")
                }
                #expect(again?.code == .nothingPending)
                let unknown = await fault {
                    _ = try await client.cancelPending(task: "com.acme.strom")
                }
                #expect(unknown?.code == .noSuchTask)
                #expect(unknown?.fix == "did you mean `com.acme.storm`?")
            }
        }
    }

    // MARK: - Runs

    @Test func `Runs arrive whole and newest first`() async throws {
        let outcomes = [Outcome.succeeded, .crashed(.signalled(11)), .killed(.memory)]
        let ended = zip(1..., outcomes).flatMap { number, outcome in
            var record = TestHost.endedRun(UInt64(number), outcome)
            record.message = "a \"b\" \u{1B}[31m"
            record.result = "[1, 2.50]"
            record.usage = RunUsage(
                cpu: .milliseconds(20),
                peakMemoryBytes: 8 << 20,
                outputBytes: 42
            )
            return [StoreChange].ended(record)
        }
        let host = try await TestHost.start(stored: ended)
        try await Serving.with(host) { serving in
            try await host.begin("com.acme.photos")
            try await serving.ask { client in
                let all = try await client.runs(task: nil, limit: nil).value
                #expect(
                    all.map(\.outcome) == [
                        nil, .killed(.memory), .crashed(.signalled(11)), .succeeded,
                    ]
                )
                let expected = await host.control.runs(task: nil, limit: 9).map { run in
                    var run = run
                    run.result = run.result.replacing(" ", with: "")
                    return run
                }
                #expect(all.map(\.id) == expected.map(\.id))
                #expect(all.dropFirst() == expected.dropFirst())
                #expect(try await client.runs(task: "com.acme.storm", limit: 2).value.count == 2)
                let fault = await fault {
                    _ = try await client.runs(task: "com.acme.strom", limit: 1)
                }
                #expect(fault?.code == .noSuchTask)
            }
        }
    }

    @Test(arguments: ["0", "-1", "1001", "many", "99999999999999999999"])
    func `Refuses bad limits`(limit: String) async throws {
        try await Serving.with { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send("GET /v1/runs?limit=\(limit) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
        }
    }

    @Test func `Finds a run by the beginning of its ID`() async throws {
        try await Serving.with { serving in
            let first = try await serving.host.begin("com.acme.storm")
            let second = try await serving.host.begin("com.acme.photos")
            try await serving.ask { client in
                let whole = try await client.run(first.id.description).value
                #expect(whole.id == first.id)
                let common = zip(first.id.description, second.id.description).prefix { $0 == $1 }
                let prefix = String(second.id.description.lowercased().prefix(common.count + 1))
                let begun = try await client.run(prefix).value
                #expect(begun.id == second.id)

                let ambiguous = await fault { _ = try await client.run("01") }
                #expect(ambiguous?.code == .ambiguousRun)
                #expect(
                    ambiguous?.candidates == [
                        "\(second.id) com.acme.photos", "\(first.id) com.acme.storm",
                    ]
                )
                for prefix in ["7Z", "x/../y", "0%", "U", String(repeating: "0", count: 27)] {
                    let fault = await fault { _ = try await client.run(prefix) }
                    #expect(fault?.code == .noSuchRun, "\(prefix)")
                }
            }
        }
    }

    @Test func `Expires a run under way`() async throws {
        try await Serving.with { serving in
            let host = serving.host
            let ended = try await host.end(try await host.begin("com.acme.storm"))
            let live = try await host.begin("com.acme.photos")
            try await serving.ask { client in
                // Ambiguous among all runs, clear among those under way.
                let expiring = try await client.expire(run: "01").value
                #expect(expiring.run == live.id)
                #expect(expiring.graceSeconds == .seconds(5))
                let late = await fault { _ = try await client.expire(run: ended.id.description) }
                #expect(late?.code == .runNotUnderWay)
                #expect(late?.message.contains("succeeded") == true)
            }
        }
    }

    // MARK: - The envelope

    @Test func `Unknown paths are faults too`() async throws {
        try await Serving.with { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send("GET /v2/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 404 "))
            #expect(answer.contains(#""code":"BG4021""#))
            #expect(answer.contains("Bghost-Version: \(BghostVersion.text)"))
        }
    }

    @Test func `Clients of another version get a message`() async throws {
        try await Serving.with { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nBghost-Version: 99.1.0\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 426 "))
            #expect(answer.contains("99.1.0") && answer.contains(BghostVersion.text))
        }
    }
}
