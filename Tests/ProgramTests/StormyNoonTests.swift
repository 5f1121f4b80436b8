// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostModel
import BghostControl
import BghostPolicy
import BghostTestSupport
import Glibc
import Testing

/// The story of the stormy noon with the real daemon and a real plugin in real workers; only the
/// daemon's wall clock is moved.
///
/// `BghostPolicyTests` has it under virtual time.
@Suite(.ownThreads) struct StormyNoonTests {
    private static let second: Int64 = 1_000_000_000
    private static let hour = 3600 * second
    private static let day = 24 * hour

    private let folder: TemporaryDirectory
    /// A noon in UTC, a day or two from now.
    private let noon: Int64

    init() throws {
        folder = try TemporaryDirectory()
        noon = (Int64(time(nil)) * Self.second / Self.day + 2) * Self.day + 12 * Self.hour
    }

    /// - Parameter grace: long, unless the handler uses all of it.
    private func daemon(runtime: String = "10m", grace: String = "60s") throws -> TestDaemon {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"stormy": {"library": "\(try Fixture.library("stormy-noon"))"}},
             "tasks": {
               "StormyNoon": {"plugin": "stormy", "handler": "noon",
                              "requires": {"network": true},
                              "limits": {"runtime": "\(runtime)", "grace": "\(grace)"}},
               "report": {"plugin": "stormy", "handler": "noon", "calendar": "0 12 * * *"}}}
            """,
            to: "tasks.json"
        )
        return try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
    }

    @discardableResult
    private func talk<Value: Sendable>(
        _ daemon: TestDaemon,
        _ body: @Sendable (ControlClient) async throws -> Value
    ) async throws -> Value {
        try await ControlClient.with(socketPath: daemon.state + "/control.sock", body)
    }

    private func set(_ client: ControlClient, _ time: Int64) async throws {
        _ = try await client.simulate(clock: Timestamp.text(unixNanoseconds: time))
    }

    private func submission(_ how: String, at time: Int64?) -> Submission {
        let next = (noon + Self.day) / 1_000_000
        return Submission(
            task: "StormyNoon",
            parameters: #"{"next":\#(next),"how":"\#(how)"}"#,
            earliestBegin: time
        )
    }

    private func waiting(_ client: ControlClient, _ task: String) async throws -> [PendingRequest] {
        try await client.pending(task: task).value.requests
    }

    /// The newest run of a task, once it has ended.
    private func last(_ client: ControlClient, _ task: String) async throws -> RunRecord {
        let newest = try #require(try await client.runs(task: task, limit: 1).value.first)
        return try await client.endedRun(ofRequest: newest.request).value
    }

    @Test(.timeLimit(.minutes(10)))
    func `The noon request is made once, starts at noon and survives a restart`() async throws {
        let first = try daemon()
        let submitted = try await talk(first) { client in
            _ = try await client.simulate(fact: "network=on")
            try await set(client, noon - Self.hour)
            let one = try await client.submit(submission("slow", at: noon)).value
            let two = try await client.submit(submission("slow", at: noon)).value
            #expect(one.id != two.id)
            #expect(try await waiting(client, "StormyNoon").map(\.id) == [two.id])
            // Not before noon, whatever else is looked at.
            try await set(client, noon - Self.hour / 2)
            #expect(try await client.runs(task: "StormyNoon", limit: 9).value.isEmpty)
            try await set(client, noon)
            return two.id
        }
        // The next noon is stored while the run waits for its slow answer.
        #expect(first.program.line(containing: "asked for the next noon: 0") != nil)
        try await talk(first) { client in
            let run = try #require(
                try await client.runs(task: "StormyNoon", limit: 9).value.first
            )
            #expect(run.request == submitted && run.epoch > 0)
            let next = try await waiting(client, "StormyNoon")
            #expect(next.map(\.earliestBegin) == [noon + Self.day])
        }
        first.program.signal(SIGKILL)
        #expect(first.program.end() == -SIGKILL)

        let second = try daemon()
        try await talk(second) { client in
            _ = try await client.simulate(fact: "network=on")
            try await set(client, noon + 60 * Self.second)
        }
        #expect(second.program.line(containing: "asked for the next noon: 0") != nil)
        // Its runtime is over, however fast the machine is.
        try await talk(second) { client in
            let run = try #require(
                try await client.runs(task: "StormyNoon", limit: 9).value.first
            )
            _ = try await client.expire(run: run.id.description)
        }
        #expect(second.program.line(containing: "cancelledClean after") != nil)
        try await talk(second) { client in
            // The lost run has started again, beside its successor; no other run has.
            let run = try #require(
                try await client.runs(task: "StormyNoon", limit: 9).value.first
            )
            #expect(run.outcome == .cancelledClean && run.attempt == 2)
            #expect(run.stopReason == .expired)
            #expect(
                try await waiting(client, "StormyNoon").map(\.earliestBegin) == [noon + Self.day]
            )
            let runs = try await client.runs(task: "StormyNoon", limit: 9).value
            #expect(runs.compactMap(\.outcome) == [.cancelledClean, .lost])
            #expect(Set(runs.map(\.epoch)).count == 2)
        }
        #expect(second.stop() == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `A run that ignores its cancel is killed and throttled, and why says so`() async throws {
        let daemon = try daemon(runtime: "4s", grace: "300ms")
        let pid = daemon.program.pid
        try await talk(daemon) { client in
            try await set(client, noon)
            _ = try await client.simulate(fact: "network=on")
            let before = try processorWait(of: pid)
            let deaf = try await client.submit(submission("deaf", at: nil)).value
            let run = try await client.endedRun(ofRequest: deaf.id).value
            #expect(run.outcome == .killed(.graceExceeded))
            let lasted = try #require(run.duration)
            // The kill comes within the grace and a second, of the time that the machine gives the daemon.
            let waited = try processorWait(of: pid) - before
            #expect(lasted >= .milliseconds(4300))
            #expect(
                lasted - waited < .milliseconds(5300),
                "\(lasted), of which it waited \(waited)"
            )
            #expect(try await client.throttles(task: "StormyNoon").value.first?.points == 2)
            let held = try await client.submit(submission("quick", at: nil)).value
            let why = try await client.explain("StormyNoon").value
            let closed = why.requests.first?.gates.filter { !$0.isOpen }.map(\.kind)
            #expect(why.requests.first?.request.id == held.id && closed == [.throttle])

            _ = try await client.simulate(fact: "network=off")
            let fault = await #expect(throws: ControlFault.self) {
                _ = try await client.trigger(Submission(task: "StormyNoon"))
            }
            #expect(fault?.code == .immediateRunIneligible)
            #expect(fault?.message.contains("requirement(network)") == true)
            let launched = try await client.trigger(
                Submission(task: "StormyNoon", ignoresRequirements: true)
            ).value
            let trial = try await client.endedRun(ofRequest: launched.id).value
            #expect(trial.outcome == .succeeded)
            #expect(try await client.throttles(task: "StormyNoon").value.first?.points == 2)
        }
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `Each noon runs once although the clock is moved`() async throws {
        let daemon = try daemon()
        try await talk(daemon) { client in
            func runs() async throws -> Int {
                try await client.runs(task: "report", limit: 100).value.count
            }
            /// Waits until there are so many runs, and until the newest one has ended.
            func settled(_ count: Int) async throws -> RunRecord {
                while try await runs() < count { await Task.yield() }
                return try await last(client, "report")
            }
            try await set(client, noon - Self.hour)
            // One run makes up for the starts missed since the daemon started: there was a noon since.
            _ = try await settled(1)
            let before = 1
            // From eleven to three: one run stands for the noon between.
            try await set(client, noon + 3 * Self.hour)
            #expect(try await settled(before + 1).outcome == .succeeded)
            #expect(try await runs() == before + 1)
            #expect(
                try await waiting(client, "report").map(\.earliestBegin) == [noon + Self.day]
            )
            // The next noon on time; half an hour later the clock is set back by two hours.
            try await set(client, noon + Self.day)
            _ = try await settled(before + 2)
            #expect(try await runs() == before + 2)
            try await set(client, noon + Self.day + Self.hour / 2)
            try await set(client, noon + Self.day - 3 * Self.hour / 2)
            try await set(client, noon + Self.day + 60 * Self.second)
            #expect(try await runs() == before + 2)
            #expect(
                try await waiting(client, "report").map(\.earliestBegin) == [noon + 2 * Self.day]
            )
            // A year ahead: one run for all of it.
            try await set(client, noon + 366 * Self.day + Self.hour)
            #expect(try await settled(before + 3).outcome == .succeeded)
            #expect(try await runs() == before + 3)
            #expect(
                try await waiting(client, "report").map(\.earliestBegin) == [noon + 367 * Self.day]
            )
        }
        let made = "missed 1 start since \(Timestamp.text(unixNanoseconds: noon)); running once"
        #expect(daemon.program.line(containing: made) != nil)
        #expect(daemon.stop() == 0)
    }
}
