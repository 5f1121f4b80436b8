// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostHost
import BghostLinux
import BghostStore
import BghostTestSupport
import Testing

extension Integration {
    /// What an operator does to requests, runs and plugins.
    @Suite struct OperatorTests {
        private let hour: Int64 = 3_600_000_000_000

        /// Keeps what happens in a folder, as a daemon does.
        private func durable(_ configuration: inout HostConfiguration) {
            configuration.openStore = { directory throws(StoreError) in
                try SQLiteStore(path: directory + "/bghost.sqlite")
            }
        }

        // MARK: What waits

        @Test(.timeLimit(.minutes(1)))
        func `All that waits is listed, and withdrawn by task or altogether`() async throws {
            try await withDaemon(try manifest(failing: .seconds(3600))) { daemon in
                let host = daemon.host
                let date = WallClock.now + hour
                let echo = try await host.submit(
                    Submission(task: "echo", earliestBegin: date, latestBegin: date + hour)
                )
                let params = try await host.submit(Submission(task: "params", earliestBegin: date))
                let failing = try await host.submit(Submission(task: "fail"))
                try await daemon.line(LogFilter(task: "fail")) { $0.event == "request.again" }

                let list = await host.pending(task: nil, limit: 10)
                #expect(list.total == 3)
                #expect(list.requests.map(\.task) == ["echo", "fail", "params"])
                #expect(list.requests[0].latestBegin == date + hour)
                #expect(list.requests[0].waitingFor == ["its earliest begin date"])
                #expect(list.requests[1].id == failing.id)
                #expect(list.requests[1].counters == AttemptCounters(failures: 1))
                #expect(list.requests[1].attempt == 2)
                #expect(
                    await host.pending(task: "fail", limit: 10).requests.map(\.id) == [failing.id]
                )
                #expect(await host.pending(task: nil, limit: 1).requests.count == 1)
                #expect(await host.pending(task: nil, limit: 1).total == 3)

                let one = try await host.cancelPending(task: "fail")
                #expect(one.map(\.id) == [failing.id])
                let others = try await host.cancelPending(task: nil)
                #expect(Set(others.map(\.id)) == [echo.id, params.id])
                #expect(await host.pending(task: nil, limit: 10).total == 0)
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `What is withdrawn does not come back with the next daemon`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(failing: .seconds(3600))
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let date = WallClock.now + hour
                _ = try await daemon.host.submit(Submission(task: "echo", earliestBegin: date))
                _ = try await daemon.host.submit(Submission(task: "params", earliestBegin: date))
                #expect(try await daemon.host.cancelPending(task: "echo").count == 1)
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let list = await daemon.host.pending(task: nil, limit: 10)
                #expect(list.requests.map(\.task) == ["params"])
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `A handler's request says in which run it was made`() async throws {
            try await withDaemon(try TestManifest.misbehave(slots: 1)) { daemon in
                let run = try await daemon.run("submit", #"{"task":"echo"}"#)
                let ended = try await daemon.line(LogFilter(task: "echo")) {
                    $0.event == "run.ended"
                }
                #expect(ended.run != nil)
                _ = try await daemon.host.disable(plugin: "misbehave", reason: "", stopsRuns: false)
                #expect(run.outcome == .succeeded)
            }
        }

        // MARK: Runs

        @Test(.timeLimit(.minutes(1)), arguments: ["honour-cancel", "ignore-cancel"])
        func `A run that is stopped owes nothing and is not repeated`(task: String) async throws {
            var manifest = try TestManifest.misbehave()
            for index in manifest.tasks.indices {
                manifest.tasks[index].retry = RetryPolicy(
                    backoff: .exponential(base: .milliseconds(1), cap: .seconds(1))
                )
            }
            try await withDaemon(manifest) { daemon in
                let request = try await daemon.host.submit(Submission(task: task))
                let run = try await daemon.begun(request)
                #expect(await daemon.host.stop(run: run.id))
                let record = try await daemon.end(of: run)
                #expect(record.stopReason == .user)
                #expect(
                    record.outcome
                        == (task == "honour-cancel" ? .cancelledClean : .killed(.graceExceeded))
                )
                #expect(await daemon.host.pending(task: nil, limit: 10).total == 0)
                #expect(await daemon.host.throttles(task: nil).isEmpty)
                #expect(await daemon.host.deadLetters(task: nil, limit: 10).isEmpty)
                #expect(await daemon.host.stop(run: run.id) == false)
            }
        }

        // MARK: Dead letters

        /// The fixture's tasks, of which `fail` is tried twice.
        private func manifest(failing base: Duration) throws -> Manifest {
            var manifest = try TestManifest.misbehave()
            let index = try #require(
                manifest.tasks.firstIndex { $0.identifier.description == "fail" }
            )
            manifest.tasks[index].retry = RetryPolicy(
                backoff: .exponential(base: base, cap: .seconds(3600)),
                attemptsMax: 2
            )
            return manifest
        }

        private func dead(_ daemon: TestDaemon, times: Int = 1) async throws {
            var left = times
            try await daemon.line(LogFilter(task: "fail")) { entry in
                if entry.event == "request.dead" { left -= 1 }
                return left == 0
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `A dead request is tried again with all its attempts, beside a newer one`()
            async throws
        {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(failing: .milliseconds(1))
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let request = try await host.submit(Submission(task: "fail"))
                try await dead(daemon)
                let letters = await host.deadLetters(task: "fail", limit: 10)
                #expect(letters.map(\.request.id) == [request.id])
                #expect(letters.first?.request.counters.failures == 2)
                // What is dead is not pending, and is not withdrawn.
                #expect(try await host.cancelPending(task: nil).isEmpty)

                let newer = try await host.submit(
                    Submission(task: "fail", earliestBegin: WallClock.now + hour)
                )
                let prefix = String(request.id.description.lowercased().prefix(24))
                let change = try await host.redrive(.request(prefix: prefix))
                #expect(change.done == [.init(id: request.id, task: "fail")])
                // Twice more, and dead again.
                try await dead(daemon, times: 2)
                #expect(await host.runs(task: "fail", limit: 10).map(\.attempt) == [4, 3, 2, 1])
                #expect(await host.deadLetters(task: "fail", limit: 10).count == 1)
                let waiting = await host.pending(task: "fail", limit: 10)
                #expect(waiting.requests.map(\.id) == [newer.id])
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `A request that was redriven outlives the daemon beside a newer one`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(failing: .milliseconds(1))
            var ids: [RunID] = []
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                ids.append(try await host.submit(Submission(task: "fail")).id)
                try await dead(daemon)
                let date = WallClock.now + hour
                ids.append(
                    try await host.submit(Submission(task: "fail", earliestBegin: date)).id
                )
                // So that it does not begin before the daemon's end.
                _ = try await host.disable(plugin: "misbehave", reason: "", stopsRuns: false)
                #expect(try await host.redrive(.all).done.map(\.id) == [ids[0]])
                #expect(try await host.redrive(.all).done.isEmpty)
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let list = await daemon.host.pending(task: "fail", limit: 10)
                #expect(Set(list.requests.map(\.id)) == Set(ids))
                #expect(
                    list.requests.first { $0.id == ids[0] }?.counters
                        == AttemptCounters(interruptions: 2)
                )
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `A dead request is given up, once`() async throws {
            try await withDaemon(try manifest(failing: .milliseconds(1))) { daemon in
                let request = try await daemon.host.submit(Submission(task: "fail"))
                try await dead(daemon)
                let change = try await daemon.host.discard(.task("fail"))
                #expect(change.done.map(\.id) == [request.id])
                #expect(await daemon.host.deadLetters(task: nil, limit: 10).isEmpty)
                let again = await #expect(throws: OperatorRefusal.self) {
                    try await daemon.host.discard(.request(prefix: request.id.description))
                }
                #expect(again?.code == .noSuchRequest)
            }
        }

        // MARK: Debts

        @Test(.timeLimit(.minutes(1)))
        func `What a task owes is shown with its cause, and forgiven for good`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try TestManifest.misbehave(
                runtime: .milliseconds(20),
                grace: .milliseconds(20)
            )
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let request = try await host.submit(Submission(task: "ignore-cancel"))
                let run = try #require(await host.waitForRun(ofRequest: request.id))
                let owed = try #require(await host.throttles(task: nil).first)
                #expect(owed.task == "ignore-cancel" && owed.points == 2 && owed.level == 2)
                #expect(owed.delay == .seconds(300))
                #expect(owed.causes.map(\.run) == [run.id])
                #expect(try #require(owed.nextStart) > WallClock.now)

                let next = try await host.submit(Submission(task: "ignore-cancel"))
                #expect(next.waitingFor.contains { $0.contains("not stopping in time") })
                #expect(try await host.forgive(task: "ignore-cancel").points == 2)
                // It begins now, and owes again.
                #expect(await host.waitForRun(ofRequest: next.id) != nil)
                #expect(try await host.forgive(task: "ignore-cancel").points == 2)
                #expect(try await host.forgive(task: "echo").points == 0)
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                #expect(await daemon.host.throttles(task: nil).isEmpty)
            }
        }

        // MARK: Plugins

        @Test(.timeLimit(.minutes(1)))
        func `A plugin that is switched off stays off across restarts`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try TestManifest.misbehave()
            var waiting: RunID?
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let run = try await daemon.begin("honour-cancel")
                let date = WallClock.now + hour
                let pending = try await host.submit(Submission(task: "echo", earliestBegin: date))
                let answer = try await host.disable(
                    plugin: "misbehave",
                    reason: "too loud",
                    stopsRuns: false
                )
                #expect(answer.running == [run.id] && answer.stopping.isEmpty)
                // The run goes on.
                #expect(await host.runs(task: "honour-cancel", limit: 1).first?.state == .running)
                for isTriggered in [false, true] {
                    let error = await #expect(throws: SubmitError.self) {
                        let submission = Submission(task: "echo")
                        _ =
                            isTriggered
                            ? try await host.trigger(submission) : try await host.submit(submission)
                    }
                    #expect(error?.code == .unavailable)
                    #expect(error?.message.contains("switched off (too loud)") == true)
                }
                // Others are not touched.
                #expect(try await daemon.run("witness.echo").outcome == .succeeded)
                let stopped = try await host.disable(
                    plugin: "misbehave",
                    reason: "too loud",
                    stopsRuns: true
                )
                #expect(stopped.stopping == [run.id])
                #expect(try await daemon.end(of: run).stopReason == .user)
                waiting = pending.id
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let status = await host.status()
                let plugin = status.plugins.first { $0.name == "misbehave" }
                #expect(plugin?.switchedOff == "too loud")
                let list = await host.pending(task: "echo", limit: 10)
                #expect(list.requests.first?.id == waiting && list.total == 1)
                #expect(
                    list.requests.first?.waitingFor.contains { $0.contains("too loud") } == true
                )
                let answer = try await host.enable(plugin: "misbehave")
                #expect(answer.off == nil)
                #expect(try await daemon.run("echo").outcome == .succeeded)
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let record = try await daemon.run("echo")
                #expect(record.outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `What waits for a plugin that is switched off begins once it is on`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let date = WallClock.now + 20_000_000
                let request = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: date)
                )
                _ = try await daemon.host.disable(plugin: "misbehave", reason: "", stopsRuns: false)
                // Due after the one that shows that its date has passed.
                let other = try await daemon.host.submit(
                    Submission(task: "witness.echo", earliestBegin: date + 1_000_000)
                )
                #expect(await daemon.host.waitForRun(ofRequest: other.id) != nil)
                #expect(await daemon.host.runs(task: "echo", limit: 1).isEmpty)
                _ = try await daemon.host.enable(plugin: "misbehave")
                let record = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(record.outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `A plugin that is not there cannot be switched`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    try await daemon.host.enable(plugin: "misbehav")
                }
                #expect(refusal?.code == .noSuchPlugin)
                #expect(refusal?.fix == "did you mean misbehave?")
            }
        }

        // MARK: The store

        @Test(.timeLimit(.minutes(1)))
        func `A backup is written while runs go on, and holds what is pending`() async throws {
            try await withDaemon(try TestManifest.misbehave(), adjust: durable) { daemon in
                let host = daemon.host
                let run = try await daemon.begin("honour-cancel")
                let request = try await host.submit(
                    Submission(task: "echo", earliestBegin: WallClock.now + hour)
                )
                let path = daemon.folder.file("copy.sqlite")
                #expect(try await host.backUp(to: path) > 0)
                let copy = try SQLiteStore(path: path)
                let state = try copy.recover()
                #expect(state.pending.map(\.id) == [request.id])
                #expect(state.interrupted.map(\.run.id) == [run.id])
                copy.close()

                for (path, part) in [
                    (path, "exists already"), ("/nonexistent/a", "/nonexistent/a"),
                    ("copy", "absolute"), ("", "absolute"), ("/a\0b", "absolute"),
                ] {
                    let refusal = await #expect(throws: OperatorRefusal.self, "\(path)") {
                        try await host.backUp(to: path)
                    }
                    #expect(refusal?.code == .backupFailed)
                    #expect(refusal?.message.contains(part) == true, "\(refusal?.message ?? "")")
                }
                #expect(await host.stop(run: run.id))
                _ = try await daemon.end(of: run)
            }
        }

        // MARK: Submissions

        @Test(.timeLimit(.minutes(1)))
        func `A latest begin date that cannot be kept is refused, and one that passes is missed`()
            async throws
        {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let now = WallClock.now
                for (earliest, latest) in [
                    (nil, now - 1), (now + 2 * hour, now + hour), (nil, Int64.min),
                ] {
                    let error = await #expect(throws: SubmitError.self) {
                        try await daemon.host.submit(
                            Submission(task: "echo", earliestBegin: earliest, latestBegin: latest)
                        )
                    }
                    #expect(error?.code == .pastLatestBegin)
                }
                _ = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: now + hour, latestBegin: .max)
                )
                let run = try await daemon.begin("honour-cancel")
                let late = try await daemon.host.submit(
                    Submission(task: "honour-cancel", latestBegin: WallClock.now + 20_000_000)
                )
                #expect(await daemon.host.waitForRun(ofRequest: late.id) == nil)
                try await daemon.line { $0.event == "request.missed" }
                #expect(await daemon.host.stop(run: run.id))
                _ = try await daemon.end(of: run)
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `A submission that gives way is answered with what is pending`() async throws {
            try await withDaemon(try TestManifest.misbehave(), adjust: durable) { daemon in
                let date = WallClock.now + hour
                let keep = Submission(
                    task: "echo",
                    parameters: #"{"n":2}"#,
                    earliestBegin: date,
                    onConflict: .keep
                )
                // All at once: those that come while the first is on its way to the store wait.
                let answers = try await withThrowingTaskGroup(of: PendingRequest.self) { group in
                    for _ in 0..<8 { group.addTask { try await daemon.host.submit(keep) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(Set(answers.map(\.id)).count == 1)
                #expect(answers.count { !$0.isKept } == 1)
                let list = await daemon.host.pending(task: "echo", limit: 10)
                #expect(list.requests.map(\.id) == [answers[0].id])
                let replacing = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: date)
                )
                #expect(replacing.id != answers[0].id && !replacing.isKept)
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `A plugin has no more pending requests than it may, of each kind`() async throws {
            var manifest = try TestManifest.misbehave(
                maxPending: PendingLimits(refresh: 2, processing: 1)
            )
            manifest.tasks.append(try TestManifest.task("many.*", "misbehave", "echo", nil))
            manifest.tasks.append(
                TaskDefinition(
                    identifier: try TestManifest.pattern("long.*"),
                    handler: .plugin(name: "misbehave", handler: "echo"),
                    kind: .processing
                )
            )
            try await withDaemon(manifest, adjust: durable) { daemon in
                let host = daemon.host
                let date = WallClock.now + hour
                func submit(_ task: String) async throws {
                    _ = try await host.submit(Submission(task: task, earliestBegin: date))
                }
                // All at once, so that what is on its way to the store counts too.
                let accepted = await withTaskGroup(of: Bool.self) { group in
                    for number in 0..<20 {
                        group.addTask { (try? await submit("many.\(number)")) != nil }
                    }
                    return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(accepted == 2)
                let list = await host.pending(task: nil, limit: 10)
                #expect(list.total == 2)
                let error = await #expect(throws: SubmitError.self) { try await submit("echo") }
                #expect(error?.code == .tooManyPendingTaskRequests)
                #expect(error?.message.contains("`maxPending`") == true)
                // Replacing one, the other kind, other plugins, and what is triggered.
                try await submit(list.requests[0].task)
                try await submit("long.a")
                try await submit("witness.echo")
                #expect(try await daemon.run("echo").outcome == .succeeded)
                await #expect(throws: SubmitError.self) { try await submit("long.b") }
                #expect(try await host.cancelPending(task: "long.a").count == 1)
                try await submit("long.b")
            }
        }
    }
}
