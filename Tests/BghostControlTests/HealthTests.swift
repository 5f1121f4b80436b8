// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostCommand
import BghostConfiguration
@testable import BghostControl
@testable import BghostHost
import BghostOwnerSupport
@testable import BghostStore
@testable import BghostTerminal
import BghostTestSupport
@testable import BghostViews
import Testing

/// Whether the daemon works: its routes and commands.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct HealthTests {
    /// The health of a store on a full disk.
    private static var full: StoreHealth {
        let since: Int64 = 1_700_000_000_000_000_000
        let error = StoreError("the disk is full")
        return StoreHealth(failure: .init(since: since, error: error, isFinal: false))
    }

    /// A host whose store answers as the test says; at first, all is well.
    private static func host(_ store: ScriptedStore) async throws -> TestHost {
        store.answerAtOnce(.success(()))
        return try await .start(configuration: { $0.openStore = { _ in store } })
    }

    // MARK: Routes

    private static func get(_ path: String, _ serving: Serving) async throws -> String {
        try await onThread {
            let connection = try RawConnection(serving.socketPath)
            connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return connection.receiveAnswer()
        }
    }

    @Test func `A daemon that works is alive and ready`() async throws {
        try await Serving.with { serving in
            let alive = try await Self.get("/healthz", serving)
            #expect(alive.hasPrefix("HTTP/1.1 200 ") && alive.contains("bghost.healthz/1"))
            let ready = try await Self.get("/readyz", serving)
            #expect(ready.hasPrefix("HTTP/1.1 200 ") && ready.contains(#""ready":true"#))
        }
    }

    @Test func `A daemon that is not ready says why, with 503, and is alive`() async throws {
        let store = ScriptedStore()
        try await Serving.with(try await Self.host(store)) { serving in
            await store.setHealth(Self.full)
            _ = await serving.host.control.drain(within: nil)
            await serving.host.untilReadiness { $0.reasons.count == 2 }
            let alive = try await Self.get("/healthz", serving)
            #expect(alive.hasPrefix("HTTP/1.1 200 "))
            let ready = try await Self.get("/readyz", serving)
            #expect(ready.hasPrefix("HTTP/1.1 503 "))
            #expect(ready.contains(#""word":"store""#) && ready.contains(#""word":"stopping""#))
            let answer = try await serving.ask { try await $0.readiness(within: .seconds(60)) }
            #expect(answer.value == (await serving.host.control.readiness()))
            #expect(
                answer.value.reasons.map(\.message).contains { $0.contains("the disk is full") }
            )
        }
    }

    @Test func `A daemon that hangs is neither alive nor ready, and says so in time`() async throws
    {
        try await Serving.with(limits: ControlLimits()) { serving in
            let end = serving.host.hang()
            defer { end() }
            let clock = ContinuousClock()
            let start = clock.now
            let alive = try await Self.get("/healthz", serving)
            #expect(alive.hasPrefix("HTTP/1.1 503 ") && alive.contains("bghost.error/1"))
            #expect(clock.now - start >= .seconds(1))
            let ready = try await Self.get("/readyz", serving)
            #expect(ready.hasPrefix("HTTP/1.1 503 ") && ready.contains(#""word":"unresponsive""#))
            let report = try await serving.ask { try await $0.health() }.value
            #expect(report.state == .critical && report.checks.map(\.name) == ["reactor"])
        }
    }

    @Test func `The client gets all fields of the checks`() async throws {
        try await Serving.with { serving in
            await serving.host.quarantinePlugin("it crashed\u{1B}[2J")
            let report = try await serving.ask { try await $0.health() }.value
            let plugin = try #require(report.checks.first { $0.name == "plugin" })
            #expect(plugin.state == .warning && plugin.since != nil)
            #expect(plugin.message.contains("it crashed\u{1B}[2J"))
            #expect(plugin.remedy.contains("bghost enable storm"))
            let own = await serving.host.control.health()
            // The rest of the disk changes meanwhile.
            func facts(_ report: HealthReport) -> [[String]] {
                report.checks.filter { $0.name != "disk" }
                    .map { [$0.name, $0.state.rawValue, $0.message, $0.remedy] }
            }
            #expect(facts(report) == facts(own))
        }
    }

    // MARK: Commands

    @Test(
        arguments: [
            (HealthReport.State.ok, 0), (.warning, 1), (.critical, 2),
        ] as [(HealthReport.State, Int32)]
    )
    func `health exits with the codes of Nagios plugins`(
        state: HealthReport.State,
        code: Int32
    ) async throws {
        let store = ScriptedStore()
        try await Serving.with(try await Self.host(store)) { serving in
            if code > 0 { await serving.host.quarantinePlugin("it crashed\u{1B}[2J") }
            if code > 1 {
                await store.setHealth(Self.full)
                await serving.host.untilReadiness { !$0.ready }
            }
            let text = try await Bghost.run(["health", "--control", serving.socketPath])
            #expect(text.exitCode == code, "\(text.error)")
            #expect(text.output.hasPrefix("bghost \(state.rawValue.uppercased()): "))
            #expect(!text.output.contains("\u{1B}"))
            #expect(text.output.contains("`bghost enable storm`") == (code > 0), "\(text)")
            let json = try await Bghost.run(["health", "--json", "--control", serving.socketPath])
            #expect(json.exitCode == code)
            #expect(try JSONReader.parse(json.output)["state"]?.string == state.rawValue)
        }
    }

    @Test func `A daemon that does not answer is critical`() async throws {
        let path = try TemporaryDirectory().file("control.sock")
        let text = try await Bghost.run(["health", "--control", path])
        #expect(
            text.exitCode == 2 && text.output.hasPrefix("bghost CRITICAL: bghost is not running")
        )
        let json = try await Bghost.run(["health", "--control", path, "--json"])
        #expect(json.exitCode == 2 && json.output.contains("bghost.health/1"))
    }

    @Test func `wait ready ends when the daemon is ready`() async throws {
        let store = ScriptedStore()
        try await Serving.with(try await Self.host(store)) { serving in
            await store.setHealth(Self.full)
            await serving.host.untilReadiness { !$0.ready }
            let wait = ["wait", "ready", "--control", serving.socketPath]
            var late: Command.Result?
            // On a busy machine the daemon may not answer within the shorter times.
            for time in ["300ms", "3s", "30s"]
            where late?.error.contains("the disk is full") != true {
                late = try await Bghost.run(wait + ["--timeout", time])
                #expect(late?.exitCode == 3)
            }
            #expect(late?.error.contains("the disk is full") == true, "\(String(describing: late))")
            async let patient = Bghost.run(wait)
            await store.setHealth(StoreHealth())
            #expect(try await patient.exitCode == 0)
        }
        let path = try TemporaryDirectory().file("control.sock")
        let absent = try await Bghost.run([
            "wait", "ready", "--timeout", "0s", "--json", "--control", path,
        ])
        #expect(absent.exitCode == 3 && absent.output.contains("bghost.error/1"))
        #expect(try await Bghost.run(["wait", "ready", "--timeout", "soon"]).exitCode == 64)
    }

    @Test func `This program shows checks of a newer daemon`() throws {
        let text = #"""
            {"state":"warning","checks":[{"name":"aura","state":"warning","since":null,
             "message":"it is dim","remedy":"","colour":"red"}]}
            """#
        let report = try APICoder.value(HealthReport.self, from: Array(text.utf8))
        #expect(report.checks.first?.name == "aura")
        #expect(
            HealthView(report: report, now: 0).text(Style(hasColor: false, hasUnicode: true))
                == "bghost WARNING: it is dim\n! aura: it is dim\n"
        )
    }
}
