// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostStore
import Testing

extension Integration {
    /// Questions about ended runs, which the store answers.
    @Suite struct HistoryTests {
        /// Each question that the store answers.
        private static let questions: [@Sendable (Host) async -> Void] = [
            { _ = await $0.status() },
            { _ = try? await $0.status(of: ["echo"]) },
            { _ = await $0.runs(task: "echo", limit: 1) },
            { _ = await $0.runs(idPrefix: "0", limit: 1) },
            { _ = await $0.output(ofRun: RunID(high: 1, low: 1)) },
            { _ = await $0.waitForRun(ofRequest: RunID(high: 1, low: 1)) },
            { _ = await $0.deadLetters(task: nil, limit: 1) },
            { _ = try? await $0.redrive(.all) },
            { _ = try? await $0.explain("echo") },
            { _ = try? await $0.explain(RunID(high: 1, low: 1).description) },
        ]

        @Test(.timeLimit(.minutes(5)), arguments: questions.indices)
        func `Runs end and limits hold while a query waits for the disk`(number: Int)
            async throws
        {
            let store = HeldStore()
            var manifest = try TestManifest.misbehave()
            for index in manifest.tasks.indices {
                manifest.tasks[index].limits.runtime = .milliseconds(20)
            }
            try await withDaemon(manifest, adjust: { $0.openStore = { _ in store } }) { daemon in
                let host = daemon.host
                store.holdQuestions()
                async let answer: Void = Self.questions[number](host)
                await store.untilHeld()
                // The question has no answer, and the deadline of a run is kept.
                let request = try await host.submit(Submission(task: "honour-cancel"))
                let ended = try await daemon.line { $0.event == "run.ended" }
                #expect(ended.task == "honour-cancel")
                store.letQuestionsGo()
                await answer
                let run = try #require(await host.waitForRun(ofRequest: request.id))
                #expect(run.stopReason == .expired)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A status of very many tasks asks for their last runs in parts`() async throws {
            let store = HeldStore()
            var manifest = try TestManifest.misbehave()
            let succeed = manifest.tasks.first { $0.identifier.description == "succeed" }
            let handler = try #require(succeed).handler
            manifest.tasks += try (0..<1000).map { number in
                TaskDefinition(
                    identifier: try #require(IdentifierPattern("many.task\(number)")),
                    handler: handler
                )
            }
            try await withDaemon(manifest, adjust: { $0.openStore = { _ in store } }) { daemon in
                let request = try await daemon.host.submit(Submission(task: "many.task998"))
                let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                let before = store.lastRunsAsked.count
                let status = await daemon.host.status()
                let count = status.tasks.count
                #expect(count > 1000)
                let last = status.tasks.filter { $0.last != nil }
                #expect(last.map(\.identifier) == ["many.task998"])
                #expect(last.first?.last?.id == run.id)
                // One question for 256 tasks, between which others get their turn.
                let asked = store.lastRunsAsked.dropFirst(before)
                #expect(asked.reduce(0, +) == count && asked.allSatisfy { $0 <= 256 })
                #expect(asked.count == (count + 255) / 256)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that ends during a query is listed once`() async throws {
            let store = HeldStore()
            try await withDaemon(
                try TestManifest.misbehave(),
                adjust: { $0.openStore = { _ in store } }
            ) { daemon in
                let host = daemon.host
                let task = Submission(task: "honour-cancel")
                let run = try await daemon.begun(try await host.submit(task))
                store.holdQuestions()
                async let listed = host.runs(task: "honour-cancel", limit: 9)
                await store.untilHeld()
                #expect(await host.expire(run: run.id))
                try await daemon.line(LogFilter(run: run.id)) { $0.event == "run.ended" }
                store.letQuestionsGo()
                let runs = await listed
                #expect(runs.map(\.id) == [run.id])
                #expect(runs.first?.state == .ended)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A wait that begins as its run ends gets the run`() async throws {
            let store = HeldStore()
            try await withDaemon(
                try TestManifest.misbehave(),
                adjust: { $0.openStore = { _ in store } }
            ) { daemon in
                let host = daemon.host
                let request = try await host.submit(Submission(task: "honour-cancel"))
                let run = try await daemon.begun(request)
                store.holdQuestions()
                async let ended = host.waitForRun(ofRequest: request.id)
                await store.untilHeld()
                #expect(await host.expire(run: run.id))
                #expect(await ended?.id == run.id)
                store.letQuestionsGo()
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A wait gets a run that ended after the query but is not stored yet`()
            async throws
        {
            let store = HeldStore()
            try await withDaemon(
                try TestManifest.misbehave(),
                adjust: { $0.openStore = { _ in store } }
            ) { daemon in
                let host = daemon.host
                let request = try await host.submit(Submission(task: "honour-cancel"))
                let run = try await daemon.begun(request)
                store.holdQuestions()
                async let ended = host.waitForRun(ofRequest: request.id)
                await store.untilHeld()
                store.hold()
                #expect(await host.expire(run: run.id))
                try await daemon.line(LogFilter(run: run.id)) { $0.event == "run.ended" }
                store.letQuestionsGo()
                // The host asks again, and this answer comes before the end is stored.
                _ = await host.runs(task: nil, limit: 1)
                store.letGo()
                #expect(await ended?.id == run.id)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The status lists the latest identifiers of a family, and a requested one`()
            async throws
        {
            var manifest = try TestManifest.misbehave()
            manifest.tasks.append(try TestManifest.task("job.*", "misbehave", "echo", nil))
            try await withDaemon(manifest) { daemon in
                let host = daemon.host
                let later = WallClock.now + hour
                let count = HostStatus.familyMembersMax + 4
                for number in 1...count {
                    _ = try await host.submit(
                        Submission(task: "job.\(number)", earliestBegin: later)
                    )
                }
                let status = await host.status()
                let members = status.tasks.map(\.identifier).filter { $0.hasPrefix("job.") }
                #expect(status.tasksOmitted == 4)
                #expect(members == ["job.*"] + (5...count).reversed().map { "job.\($0)" })
                let first = try await host.status(of: ["job.1", "echo", "job.*"])
                #expect(first.tasks.map(\.identifier) == ["job.1", "echo", "job.*"])
                #expect(first.tasks.first?.pending?.task == "job.1")
                #expect(first.tasksOmitted == 0)
                await #expect(throws: OperatorRefusal.self) {
                    try await host.status(of: ["echo", "jobs"])
                }
                // One that runs is listed, however long ago its first use was.
                let request = try await host.trigger(Submission(task: "job.2"))
                _ = await host.waitForRun(ofRequest: request.id)
                #expect(try await host.status(of: ["job.2"]).tasks.first?.last?.task == "job.2")
            }
        }
    }
}
