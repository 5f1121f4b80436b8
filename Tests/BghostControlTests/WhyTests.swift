// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostFacts
import BghostModel
@testable import BghostCommand
import BghostControl
import BghostPolicy
@testable import BghostTerminal
import BghostTestSupport
@testable import BghostViews
import Testing

/// Why and what if: from the client through the API and back, and as commands.
@Suite(.timeLimit(.minutes(5)))
struct WhyTests {
    private static let now: Int64 = 1_795_278_664_000_000_000
    private static let hour: Int64 = 3_600_000_000_000

    private static let network = Gate(
        .requirement,
        name: "network",
        isOpen: false,
        now: "no default route\u{1B}[2J",
        wanted: "a default route",
        source: "rtnetlink",
        since: now - hour,
        remedy: "bring up a default route; it counts after 2 s",
        condition: "requirement network were met",
        changes: [
            Fact.Change(value: .fails, reading: "no default route", at: now - hour),
            Fact.Change(value: .holds, reading: "default route", at: now - 2 * hour),
        ]
    )

    /// An answer with every member filled.
    private static func full() -> TaskExplanation {
        let date = Gate(
            .notBefore,
            isOpen: false,
            now: "2026-11-21T16:31:04.000Z",
            wanted: "2026-11-21T17:31:04.000Z or later",
            since: now,
            until: now + hour,
            remedy: "`bghost trigger com.acme.storm` runs it now, ignoring its start time",
            condition: "it were 2026-11-21T17:31:04.000Z"
        )
        let overlap = Gate(
            .overlap,
            isOpen: true,
            now: "under way: R",
            wanted: "nothing",
            ids: [RunID(high: 9, low: 9)]
        )
        let run = RunRecord(
            id: RunID(high: 3, low: 3),
            request: RunID(high: 2, low: 2),
            task: "com.acme.storm",
            plugin: "storm",
            state: .ended,
            outcome: .failed,
            message: "disk full",
            limits: RunLimits(kind: .refresh),
            submittedAt: now - hour,
            startedAt: now - hour,
            endedAt: now - hour,
            duration: .seconds(1)
        )
        return TaskExplanation(
            task: "com.acme.storm",
            at: now,
            requests: [
                Explanation(
                    request: PendingRequest(
                        id: RunID(high: 1, low: 1),
                        task: "com.acme.storm",
                        submittedAt: now - hour,
                        earliestBegin: now + hour
                    ),
                    gates: [overlap, date, network],
                    at: now
                )
            ],
            total: 3,
            last: run,
            schedule: ScheduleOutlook(text: "0 12 * * * (UTC)", next: now + 2 * hour),
            dead: DeadLetter(
                request: Request(
                    id: RunID(high: 4, low: 4),
                    task: "com.acme.storm",
                    parameters: "{}",
                    submittedAt: now,
                    priority: 500
                ),
                reason: "it failed 5 times",
                run: run.id,
                diedAt: now - hour
            ),
            simulation: SimulationStatus(
                facts: [.init(name: "network", value: .fails)],
                clockOffset: -90_000_000_001
            )
        )
    }

    private func command(_ arguments: [String], _ serving: Serving) async throws -> Command.Result {
        try await Bghost.run(arguments + ["--control", serving.socketPath])
    }

    // MARK: - Through the API

    /// An explanation as the API sends it.
    private static func sent(_ explanation: TaskExplanation) -> String {
        APICoder.text(Schema.why, API.Why(explanation))
    }

    @Test func `An explanation arrives whole`() async throws {
        try await Serving.with { serving in
            let run = try await serving.host.begin("com.acme.storm")
            await serving.host.holdPlugin()
            let request = try await serving.host.control.submit(Submission(task: "com.acme.storm"))
            for id in ["com.acme.storm", "\(request.id)"] {
                let arrived = try await serving.ask { try await $0.explain(id).value }
                var expected = try await serving.host.control.explain(id)
                #expect(arrived.running.map(\.id) == [run.id] && arrived.requests.count == 1)
                // Time passes between the two questions.
                expected.at = arrived.at
                #expect(arrived.requests.map(\.request.id) == [request.id])
                #expect(arrived.requests.map(\.gates.count) == expected.requests.map(\.gates.count))
            }
            // Its characters have a meaning in addresses.
            let name = "a b/c?&+%2A.*"
            let unknown = await fault { _ = try await serving.ask { try await $0.explain(name) } }
            #expect(unknown?.message.contains(name) == true, "\(String(describing: unknown))")
        }
        var running = Self.full()
        running.running = [TestHost.endedRun(1)]
        for answer in [Self.full(), running, TaskExplanation(task: "a b/c?&+%2A.*", at: 0)] {
            let read: API.Why = try APICoder.value(from: Array(Self.sent(answer).utf8))
            #expect(read.explanation == answer)
        }
    }

    @Test func `The JSON has the prediction from the gates`() throws {
        let json = try JSONReader.parse(Self.sent(Self.full()))
        #expect(json["schema"]?.string == "bghost.why/1")
        #expect(json["state"]?.string == "waiting")
        let request = json["requests"]?.array?.first
        #expect(request?["earliestStart"]?.string == "2026-11-21T17:31:04.000Z")
        #expect(request?["certain"]?.bool == false)
        #expect(
            request?["counterfactual"]?.string
                == "would start now if it were 2026-11-21T17:31:04.000Z and requirement network"
                + " were met"
        )
        #expect(
            request?["gates"]?.array?.map { $0["gate"]?.string } == [
                "overlap", "notBefore", "requirement",
            ]
        )
    }

    @Test func `Simulated facts arrive`() async throws {
        try await Serving.with { serving in
            try await serving.ask { client in
                var answer = try await client.simulate(fact: "power=battery").value
                #expect(answer.facts == [.init(name: "externalPower", value: .fails)])
                answer = try await client.simulate(clock: "+6h").value
                #expect(answer.clockOffset == 6 * Self.hour)
                answer = try await client.simulate(clock: "-30m").value
                #expect(answer.clockOffset == 6 * Self.hour - Self.hour / 2)
                #expect(try await client.status().value.simulation == answer)
                _ = try await client.simulate(fact: "power=real")
                answer = try await client.simulate(clock: "real").value
                #expect(answer == SimulationStatus())
                #expect(try await client.status().value.simulation == answer)
            }
        }
    }

    @Test(arguments: ["network", "network=maybe", "nothing=off", "a=\u{1B}[2J"])
    func `Refuses unknown facts`(fact: String) async throws {
        try await Serving.with { serving in
            let refusal = await fault {
                _ = try await serving.ask { try await $0.simulate(fact: fact) }
            }
            #expect(refusal?.code == .badSimulation)
            #expect(refusal?.message.contains("\u{1B}") == false)
            let result = try await command(["simulate", "fact", fact], serving)
            #expect(result.exitCode == 64)
        }
    }

    @Test(arguments: ["", "6h", "soon", "+", String(repeating: "9", count: 4000)])
    func `Refuses invalid clocks`(clock: String) async throws {
        try await Serving.with { serving in
            let refusal = await fault {
                _ = try await serving.ask { try await $0.simulate(clock: clock) }
            }
            #expect(refusal?.code == (clock.isEmpty ? .badRequest : .badSimulation))
            #expect(await serving.host.control.status().simulation.clockOffset == 0)
        }
    }

    // MARK: - For people

    @Test func `A name that is no task's is refused`() async throws {
        try await Serving.with { serving in
            let result = try await command(["why", "com.acme.strom"], serving)
            #expect(result.exitCode == 4)
            #expect(result.error.contains("BG4013"))
            #expect(result.error.contains("did you mean `com.acme.storm`?"))
        }
    }

    @Test func `An empty name is refused`() async throws {
        try await Serving.with { serving in
            let refusal = await fault { _ = try await serving.ask { try await $0.explain("") } }
            #expect(refusal?.code == .badRequest)
        }
    }

    @Test func `The commands say what is simulated`() async throws {
        try await Serving.with { serving in
            let clock = try await command(["simulate", "clock", "-30m"], serving)
            let line =
                "! the clock is simulated: 30m behind the machine's; `bghost simulate clock real`"
                + " ends it\n"
            #expect(clock.output == line)
            let fact = try await command(["simulate", "fact", "network=off"], serving)
            let factLine =
                "! network is simulated: unmet; `bghost simulate fact network=real` ends it\n"
            #expect(fact.output == line + factLine)
            #expect(try await command(["status"], serving).output.contains(line + factLine))
            _ = try await command(["simulate", "clock", "real"], serving)
            let last = try await command(["simulate", "fact", "network=real"], serving)
            #expect(last.output == "nothing is simulated\n")
            #expect(try await !command(["status"], serving).output.contains("simulated"))
        }
    }

    @Test func `Closed gates come first`() {
        let plain = Style(hasColor: false, hasUnicode: true)
        let text = WhyView(answer: Self.full()).text(plain)
        let id = RunID(high: 1, low: 1).description
        let expected = #"""
            ! the clock is simulated: 1m30s behind the machine's; `bghost simulate clock real` ends it
            ! network is simulated: unmet; `bghost simulate fact network=real` ends it
            com.acme.storm waits for requirement(network): no default route\u{1B}[2J; to unblock: bring up a default route; it counts after 2 s (and 1 more unmet gate)
            request \#(id), submitted 1h ago
               GATE                  NOW                                        NEEDS                              SINCE    OPENS
            !  notBefore             2026-11-21T16:31:04.000Z                   2026-11-21T17:31:04.000Z or later  now      in 1h
            !  requirement(network)  no default route\u{1B}[2J (rtnetlink)      a default route                    1h ago
            ✓  overlap               under way: R                               nothing
              to unblock notBefore: `bghost trigger com.acme.storm` runs it now, ignoring its start time
              to unblock requirement(network): bring up a default route; it counts after 2 s
              requirement(network) was: unmet 1h ago (no default route), met 2h ago (default route)
            It would start now if it were 2026-11-21T17:31:04.000Z and requirement network were met.
            It starts no earlier than in 1h, at 2026-11-21T17:31:04.000Z; no start time can be predicted.

            and 2 more requests

            last run: ✗ failed 1h ago: disk full (`bghost show \#(RunID(high: 3, low: 3))`)
            dead letter: it failed 5 times 1h ago; `bghost redrive \#(RunID(high: 4, low: 4))` tries it again
            schedule: 0 12 * * * (UTC), next in 2h, at 2026-11-21T18:31:04.000Z

            """#
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.split(separator: " ", omittingEmptySubsequences: true) }
        let wanted = expected.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.split(separator: " ", omittingEmptySubsequences: true) }
        #expect(lines == wanted)
        #expect(!text.contains("\u{1B}"))
        // Columns stand under one another.
        let columns = ["GATE  ", "requirement(network)  ", "overlap  "].map { word in
            text.split(separator: "\n").lazy.compactMap { line in
                line.firstRange(of: word).map { line[..<$0.lowerBound].count }
            }.first
        }
        #expect(columns == [3, 3, 3])
    }

    @Test func `Colours say what the signs say`() {
        let text = WhyView(answer: Self.full()).text(Style(hasColor: true, hasUnicode: true))
        #expect(text.contains("\u{1B}[33m!\u{1B}[0m"))
        #expect(text.contains("\u{1B}[32m✓\u{1B}[0m"))
    }

    @Test func `A task with nothing waiting says so`() {
        let plain = Style(hasColor: false, hasUnicode: true)
        var answer = TaskExplanation(task: "com.acme.storm", at: Self.now)
        #expect(
            WhyView(answer: answer).text(plain) == """
                com.acme.storm: no pending request; `bghost submit com.acme.storm` requests a run
                last run: none yet

                """
        )
        answer.schedule = ScheduleOutlook(text: "every 1h", next: nil)
        answer.running = [
            RunRecord(
                id: RunID(high: 5, low: 5),
                request: RunID(high: 6, low: 6),
                task: "com.acme.storm",
                plugin: "storm",
                state: .running,
                limits: RunLimits(kind: .refresh),
                submittedAt: Self.now,
                startedAt: Self.now - 3_000_000_000
            )
        ]
        #expect(
            WhyView(answer: answer).text(plain) == """
                com.acme.storm runs: \(RunID(high: 5, low: 5)), running 3s
                com.acme.storm: no pending request
                schedule: every 1h, no further start

                """
        )
    }
}
