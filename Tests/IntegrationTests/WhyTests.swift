// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostConfiguration
import BghostFacts
@testable import BghostHost
@testable import BghostLinux
import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Each gate of a real host, closed once: `why` names it, and to follow what it says opens it.
    @Suite struct WhyTests {
        private static let hour: Int64 = 3_600_000_000_000

        private func durable(_ configuration: inout HostConfiguration) {
            configuration.openStore = { directory throws(StoreError) in
                try SQLiteStore(path: directory + "/bghost.sqlite")
            }
        }

        /// The explanation of the one request of a task, which must wait.
        private func why(_ task: String, _ daemon: RunningHost) async throws -> Explanation {
            let answer = try await daemon.host.explain(task)
            #expect(answer.requests.count == 1)
            return try #require(answer.requests.last)
        }

        /// The one closed gate of the one request of a task.
        private func closed(_ task: String, _ daemon: RunningHost) async throws -> Gate {
            let why = try await why(task, daemon)
            #expect(why.closed.count == 1, "\(why.closed.map(\.label))")
            return try #require(why.closed.first)
        }

        /// Waits until a request's run has ended well.
        private func expectRun(_ request: PendingRequest, _ daemon: RunningHost) async throws {
            let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
            #expect(run.outcome == .succeeded)
        }

        // MARK: The plugin

        @Test(.timeLimit(.minutes(5)))
        func `A plugin that is switched off`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let host = daemon.host
                let date = WallClock.now + Self.hour
                let request = try await host.submit(Submission(task: "echo", earliestBegin: date))
                let before = WallClock.now
                _ = try await host.disable(plugin: "misbehave", reason: "tests", stopsRuns: false)
                _ = try await host.simulate(clock: .to(date))
                let gate = try await closed("echo", daemon)
                #expect(gate.kind == .pluginDisabled)
                #expect(gate.now.contains("(tests)"))
                #expect(try #require(gate.since) >= before)
                #expect(gate.changes.map(\.reading) == ["off (tests)"])
                #expect(gate.remedy == "`bghost enable misbehave`")
                _ = try await host.enable(plugin: "misbehave")
                try await expectRun(request, daemon)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A library that is not there`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try TestManifest.plugin("late", library: folder.file("late.so"))
            try await withDaemon(manifest, folder: folder) { daemon in
                let request = try await daemon.host.submit(Submission(task: "task"))
                let gate = try await closed("task", daemon)
                #expect(gate.kind == .pluginMissing)
                #expect(gate.now.contains("late.so"))
                #expect(gate.since != nil)
                _ = try folder.write(
                    try File.read(try Fixture.library("misbehave")),
                    to: "late.so"
                )
                // That it is there is noticed, without a question.
                try await expectRun(request, daemon)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A task that the manifest does not permit any more`() async throws {
            let folder = try TemporaryDirectory()
            let whole = try TestManifest.misbehave()
            var less = whole
            less.tasks.removeAll { $0.identifier.description == "echo" }
            let date = WallClock.now + Self.hour
            var id: RunID?
            try await withDaemon(whole, folder: folder, adjust: durable) { daemon in
                let submission = Submission(task: "echo", earliestBegin: date)
                id = try await daemon.host.submit(submission).id
            }
            try await withDaemon(less, folder: folder, adjust: durable) { daemon in
                let why = try await why("echo", daemon)
                #expect(why.closed.map(\.kind) == [.manifestRemoved, .notBefore])
                #expect(why.remedies.first?.contains("add echo to `tasks` in") == true)
                let byID = try await daemon.host.explain(try #require(id).description)
                #expect(byID.requests.map(\.request.id) == [why.request.id])
                #expect(byID.requests.first?.closed.map(\.kind) == why.closed.map(\.kind))
            }
            try await withDaemon(whole, folder: folder, adjust: durable) { daemon in
                let gate = try await closed("echo", daemon)
                #expect(gate.kind == .notBefore)
            }
        }

        // MARK: Dates

        @Test(.timeLimit(.minutes(5)))
        func `A date that has not come`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let date = WallClock.now + Self.hour
                let request = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: date, latestBegin: date + Self.hour)
                )
                let why = try await why("echo", daemon)
                #expect(why.closed.map(\.kind) == [.notBefore])
                #expect(why.earliestStart == date && why.isCertain)
                let text = Timestamp.text(unixNanoseconds: date)
                #expect(why.counterfactual == "would start now if it were \(text)")
                // All of them, open or not, in their order.
                #expect(
                    why.gates.map(\.kind) == [
                        .pluginDisabled, .pluginMissing, .manifestRemoved, .notBefore, .notAfter,
                        .throttle, .predecessor, .overlap, .handler, .slot, .replacement, .store,
                        .drain,
                    ]
                )
                // The gate has the date.
                _ = try await daemon.host.simulate(clock: .to(date))
                try await expectRun(request, daemon)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Throttling`() async throws {
            let manifest = try TestManifest.misbehave(
                runtime: .milliseconds(300),
                grace: .milliseconds(50)
            )
            try await withDaemon(manifest) { daemon in
                let host = daemon.host
                let first = try await host.submit(Submission(task: "ignore-cancel"))
                let run = try #require(await host.waitForRun(ofRequest: first.id))
                #expect(run.outcome == .killed(.graceExceeded))
                let second = try await host.submit(Submission(task: "ignore-cancel"))
                let why = try await why("ignore-cancel", daemon)
                let gate = try #require(why.closed.first)
                #expect(why.closed.count == 1 && gate.kind == .throttle)
                #expect(gate.now.hasPrefix("2 throttle points; the last run was killed "))
                #expect(gate.ids == [run.id])
                let ended = try #require(run.endedAt)
                #expect(try #require(gate.since) - ended < 1_000_000_000)
                #expect(try #require(gate.until) - ended >= 300_000_000_000)
                #expect(why.earliestStart == gate.until && why.isCertain)
                #expect(gate.remedy == "`bghost throttle clear ignore-cancel`")
                _ = try await host.clearThrottle(task: "ignore-cancel")
                #expect(await host.waitForRun(ofRequest: second.id)?.outcome != nil)
            }
        }

        // MARK: The machine

        @Test(.timeLimit(.minutes(5)), arguments: [false, true])
        func `A requirement`(isSimulated: Bool) async throws {
            var manifest = try TestManifest.misbehave()
            for index in manifest.tasks.indices
            where manifest.tasks[index].identifier.description == "echo" {
                manifest.tasks[index].requirements = [.externalPower]
            }
            let facts = ManualFacts([.externalPower])
            try await withDaemon(manifest, adjust: { $0.factSources = { _ in [facts] } }) {
                daemon in
                for (step, isOn) in [true, false, true].enumerated() {
                    facts.report(.externalPower, .state(isOn), text: "step \(step)")
                    try await daemon.line { $0.message.hasSuffix("(step \(step), manual)") }
                }
                if isSimulated {
                    _ = try await daemon.host.simulate(fact: "power=battery")
                } else {
                    facts.report(.externalPower, .state(false), text: "online=none")
                    try await daemon.line { $0.message.contains("online=none") }
                }
                let request = try await daemon.host.submit(Submission(task: "echo"))
                let gate = try await closed("echo", daemon)
                #expect(gate.label == "requirement(externalPower)")
                #expect(gate.source == (isSimulated ? "simulate fact" : "manual"))
                #expect(gate.now == (isSimulated ? "simulated unmet" : "online=none"))
                #expect(gate.since != nil)
                #expect(gate.changes.map(\.value) == [.fails, .holds, .fails])
                if isSimulated {
                    #expect(gate.remedy == "`bghost simulate fact externalPower=real`")
                    _ = try await daemon.host.simulate(fact: "externalPower=real")
                } else {
                    #expect(gate.remedy == "connect external power")
                    facts.report(.externalPower, .state(true))
                }
                try await expectRun(request, daemon)
            }
        }

        // MARK: Other requests and runs

        @Test(.timeLimit(.minutes(5)))
        func `A run of the same task`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let run = try await daemon.begin("honour-cancel")
                let request = try await daemon.host.submit(Submission(task: "honour-cancel"))
                let gate = try await closed("honour-cancel", daemon)
                #expect(gate.kind == .overlap && gate.ids == [run.id])
                #expect(gate.since != nil)
                #expect(gate.remedy.contains("bghost stop \(run.id)"))
                #expect(await daemon.host.stop(run: run.id))
                let next = try await daemon.begun(request)
                #expect(await daemon.host.stop(run: next.id))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request that goes first`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let host = daemon.host
                let run = try await daemon.begin("honour-cancel")
                let first = try await host.trigger(Submission(task: "honour-cancel"))
                let second = try await host.submit(Submission(task: "honour-cancel"))
                let answer = try await host.explain(second.id.description.lowercased())
                let why = try #require(answer.requests.first)
                #expect(why.closed.map(\.kind) == [.predecessor, .overlap])
                #expect(why.closed.first?.ids == [first.id])
                #expect(!why.isCertain)
                #expect(await host.stop(run: run.id))
                let next = try await daemon.begun(first)
                #expect(try await closed("honour-cancel", daemon).kind == .overlap)
                #expect(await host.stop(run: next.id))
                let last = try await daemon.begun(second)
                #expect(await host.stop(run: last.id))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run of the same handler`() async throws {
            var manifest = try TestManifest.misbehave()
            manifest.tasks.append(try TestManifest.task("twin", "misbehave", "serial", nil))
            try await withDaemon(manifest) { daemon in
                let run = try await daemon.begin("serial")
                let request = try await daemon.host.submit(Submission(task: "twin"))
                let gate = try await closed("twin", daemon)
                #expect(gate.kind == .handler && gate.ids == [run.id])
                #expect(gate.wanted == "one at a time")
                #expect(await daemon.host.stop(run: run.id))
                let next = try await daemon.begun(request)
                #expect(await daemon.host.stop(run: next.id))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `No free slot`() async throws {
            try await withDaemon(try TestManifest.misbehave(slots: 1)) { daemon in
                let run = try await daemon.begin("honour-cancel")
                let first = try await daemon.host.submit(Submission(task: "echo"))
                _ = try await daemon.host.submit(Submission(task: "params"))
                let gate = try await closed("params", daemon)
                #expect(gate.kind == .slot && gate.ids == [run.id])
                #expect(gate.now == "1 of 1 in use, 1 request ahead")
                #expect(gate.since != nil)
                #expect(gate.remedy.contains("raise `slots`"))
                #expect(await daemon.host.stop(run: run.id))
                try await expectRun(first, daemon)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A newer request that is on its way to the store`() async throws {
            let store = HeldStore()
            try await withDaemon(
                try TestManifest.misbehave(),
                adjust: { $0.openStore = { _ in store } }
            ) { daemon in
                let host = daemon.host
                let date = WallClock.now + Self.hour
                let submission = Submission(task: "echo", earliestBegin: date)
                _ = try await host.submit(submission)
                store.hold()
                async let newer = host.submit(submission)
                await store.untilRequestHeld()
                let why = try await why("echo", daemon)
                #expect(why.closed.map(\.kind) == [.notBefore, .replacement])
                // This one never starts: the newer one does.
                #expect(why.earliestStart == nil && why.counterfactual == nil)
                store.letGo()
                let id = try await newer.id
                #expect(try await self.why("echo", daemon).request.id == id)
                #expect(try await closed("echo", daemon).kind == .notBefore)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A daemon that is stopping`() async throws {
            let manifest = try TestManifest.misbehave(grace: .seconds(200))
            try await withDaemon(manifest) { daemon in
                let run = try await daemon.begin("ignore-cancel")
                _ = try await daemon.host.submit(Submission(task: "echo", earliestBegin: .max / 2))
                async let drained: Void = daemon.host.drain()
                try await daemon.line { $0.event == "host.draining" }
                let why = try await why("echo", daemon)
                #expect(why.closed.map(\.kind) == [.notBefore, .drain])
                #expect(!why.isCertain)
                // Nothing else ends the drain within the grace.
                kill(try #require(run.pid), SIGKILL)
                await drained
            }
        }

        // MARK: Tasks, families and requests

        @Test(.timeLimit(.minutes(5)))
        func `A task with nothing waiting`() async throws {
            var manifest = try TestManifest.misbehave()
            manifest.tasks.append(try TestManifest.task("family.*", "misbehave", "echo", nil))
            try await withDaemon(manifest) { daemon in
                let host = daemon.host
                var answer = try await host.explain("fail")
                #expect(answer.state == "idle" && answer.last == nil && answer.schedule == nil)
                let run = try await daemon.run("fail")
                answer = try await host.explain("fail")
                #expect(answer.requests.isEmpty && answer.last?.id == run.id)
                #expect(answer.last?.outcome == .failed)
                // Its request has ended; who asks for that gets its run.
                answer = try await host.explain(run.request.description)
                #expect(answer.task == "fail" && answer.last?.id == run.id)
                let live = try await daemon.begin("honour-cancel")
                answer = try await host.explain(live.request.description)
                #expect(answer.state == "running" && answer.running.map(\.id) == [live.id])
                #expect(await host.stop(run: live.id))

                let date = WallClock.now + Self.hour
                for member in ["family.a", "family.b"] {
                    _ = try await host.submit(Submission(task: member, earliestBegin: date))
                }
                #expect(try await host.explain("family.a").requests.count == 1)
                #expect(try await host.explain("family.*").requests.count == 2)
                #expect(try await host.explain("family.c").requests.isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `why refuses an unknown task or request`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let host = daemon.host
                let date = WallClock.now + Self.hour
                for task in ["echo", "params"] {
                    _ = try await host.submit(Submission(task: task, earliestBegin: date))
                }
                for (id, code, part) in [
                    ("ecoh", OperatorRefusal.Code.noSuchTask, "did you mean `echo`?"),
                    ("", .noSuchTask, ""), ("\u{1B}[2J", .noSuchTask, "there is no task"),
                    (String(repeating: "x", count: 100_000), .noSuchTask, ""),
                    ("7ZZZ", .noSuchRequest, "7ZZZ"), ("0", .ambiguousRequest, "2 requests"),
                ] {
                    do throws(OperatorRefusal) {
                        _ = try await host.explain(id)
                        Issue.record("\(id.prefix(20)) is explained")
                    } catch {
                        #expect(error.code == code)
                        #expect(error.description.contains(part))
                        #expect(!error.description.contains("\u{1B}"))
                        #expect(error.message.utf8.count < 1000)
                    }
                }
            }
        }
    }
}
