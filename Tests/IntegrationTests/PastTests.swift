// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
import Testing

extension Integration {
    /// What a daemon answers about the past, also after a restart.
    @Suite struct PastTests {
        private func durable(_ configuration: inout HostConfiguration) {
            configuration.openStore = { directory throws(StoreError) in
                try SQLiteStore(path: directory + "/bghost.sqlite")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run, a skipped start, and what came of them`() async throws {
            let folder = try TemporaryDirectory()
            let task = "honour-cancel"
            var manifest = try TestManifest.misbehave()
            let index = try #require(
                manifest.tasks.firstIndex { $0.identifier.description == task }
            )
            manifest.tasks[index].overlap = .skip
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let first = try await host.submit(Submission(task: task))
                let second = try await host.submit(Submission(task: task))
                #expect(await host.waitForRun(ofRequest: second.id) == nil)
                let starts = try await host.skippedStarts(StartQuestion(limit: 5)).starts
                #expect(starts.map(\.kind) == [.overlap])
                #expect(starts.map(\.request) == [second.id])
                let active = try await host.runs(
                    RunQuestion(RunQuery(RunFilter(state: .running), limit: 5))
                )
                let run = try #require(active.runs.first)
                #expect(active.runs.count == 1 && run.request == first.id)
                let past = try await host.past(task: task, at: "0s")
                #expect(past.kind == .ran && past.run?.id == run.id)
                #expect(past.sentence.contains("is in progress; due at "))
                #expect(past.sentence.contains("`overlap: skip`"))
                while await !host.stop(run: run.id) { await Task.yield() }
                let ended = try #require(await host.waitForRun(ofRequest: first.id))
                #expect(ended.outcome != .succeeded)
                let failed = try await host.runs(
                    RunQuestion(
                        RunQuery(RunFilter(task: task, state: .unsuccessful), limit: 5),
                        since: "1h"
                    )
                )
                #expect(failed.runs.map(\.id) == [run.id])
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let past = try await host.past(task: task, at: "0s")
                #expect(past.kind == .ran && past.starts.map(\.kind) == [.overlap])
                let old = try await host.past(task: task, at: "2d")
                #expect(old.kind == .notKept && old.keptSince != nil)
                #expect(try await host.past(task: "echo", at: "0s").kind == .notDue)
                for (name, time) in [("nosuch", "0s"), (task, "soon"), (task, "2200-01-01")] {
                    await #expect(throws: OperatorRefusal.self) {
                        try await host.past(task: name, at: time)
                    }
                }
            }
        }
    }
}
