// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
@testable import BghostStore
import Testing

/// Saves and loads of checkpoints, with a store that the test answers, and without a process.
@Suite(.timeLimit(.minutes(5))) struct CheckpointCommandsTests {
    private final class Bench {
        let store = ScriptedStore()
        let commands: CheckpointCommands
        let commits: CommitQueue
        let spawner: Spawner
        private let threads = BlockingThreads()
        /// The results of saves, by name, in their order.
        var results: [String] = []
        /// The runs in progress.
        var live: Set<Int> = [1, 2]

        init(_ reactor: Reactor) throws {
            spawner = try Spawner()
            let log = HostLog()
            commits = CommitQueue(store, reactor: reactor, log: log, deadLettersMax: 10)
            let history = HistoryReader(store, threads, spawner: spawner)
            commands = CheckpointCommands(commits, history, DaemonClock(reactor), log: log)
        }

        func end() {
            spawner.end()
            threads.end()
        }

        func save(_ text: String, run: Int = 1, request: UInt64 = 1, plugin: String = "plugin") {
            let record = RunRecord(
                id: RunID(high: 2, low: UInt64(run)),
                request: RunID(high: 1, low: request),
                task: "task",
                plugin: plugin,
                epoch: UInt64(run),
                limits: RunLimits(kind: .refresh),
                submittedAt: 0
            )
            commands.save(
                Array(text.utf8),
                by: record,
                while: { [unowned self] in live.contains(run) },
                then: { [unowned self] in results.append("\(text) \($0)") }
            )
        }

        /// What waits for the store's answer.
        var saving: [String] {
            store.commits.flatMap(\.changes).map { change in
                switch change {
                case .checkpointSaved(let saved): String(decoding: saved.bytes, as: UTF8.self)
                case .checkpointDeleted: "nothing"
                default: "another change"
                }
            }
        }

        /// Gives all waiting commits a result, and waits until each of their saves has it.
        ///
        /// Commits get their results in turns of their own.
        nonisolated(nonsending) func answer(_ result: Result<Void, StoreError>) async {
            let expected = results.count + saving.count { $0 != "another change" }
            await store.answerAll(result)
            await ReactorActor.wait { results.count >= expected }
        }
    }

    private static let full = StoreError("the disk is full", kind: .full)

    @Test func `One save of a run is under way, and the newest of those that wait is next`()
        async throws
    {
        try await ReactorActor.run { actor in
            let bench = try Bench(actor.reactor)
            defer { bench.end() }
            for text in ["a", "b", "c", "", "d"] { bench.save(text) }
            #expect(bench.saving == ["a"])
            await bench.answer(.success(()))
            #expect(bench.results == ["a true"])
            #expect(bench.saving == ["d"])
            // The store has `a`, and none of those that waited.
            await bench.answer(.failure(Self.full))
            #expect(bench.results == ["a true", "b false", "c false", " false", "d false"])
            bench.results = []
            for text in ["e", "f", ""] { bench.save(text) }
            await bench.answer(.failure(Self.full))
            #expect(bench.saving == ["nothing"])
            await bench.answer(.success(()))
            #expect(bench.results == ["e false", "f true", " true"])
            #expect(bench.saving.isEmpty)
            #expect(bench.commands.turns.isEmpty)
        }
    }

    @Test func `A save that waits is not written after the end of its run`() async throws {
        try await ReactorActor.run { actor in
            let bench = try Bench(actor.reactor)
            defer { bench.end() }
            for text in ["a", "b"] { bench.save(text) }
            bench.live = [2]
            await bench.answer(.success(()))
            #expect(bench.results == ["a true", "b false"])
            #expect(bench.saving.isEmpty && bench.commands.turns.isEmpty)

            // Nor does it delay the next run of the request.
            (bench.results, bench.live) = ([], [1, 2])
            for (text, run) in zip(["c", "d", "e"], [1, 1, 2]) { bench.save(text, run: run) }
            #expect(bench.results == ["d false"])
            await bench.answer(.success(()))
            #expect(bench.saving == ["e"])
            await bench.answer(.success(()))
            #expect(bench.results == ["d false", "c true", "e true"])
        }
    }

    @Test func `A load waits for the result of a save, and a save for loads`() async throws {
        try await ReactorActor.run { actor in
            let bench = try Bench(actor.reactor)
            defer { bench.end() }
            bench.save("a")
            let load = Task {
                _ = actor
                let request = RunID(high: 1, low: 1)
                if case .none = await bench.commands.load(request, plugin: "plugin") {
                    return "none"
                }
                return "another answer"
            }
            await ReactorActor.wait { bench.commands.turns.values.first?.waitingLoads.count == 1 }
            bench.save("b")
            await bench.answer(.failure(Self.full))
            // The load comes first: a run that saves without end does not hold it up.
            #expect(await load.value == "none")
            await ReactorActor.wait { bench.saving == ["b"] }
            await bench.answer(.success(()))
            #expect(bench.results == ["a false", "b true"])
            #expect(bench.commands.turns.isEmpty)
        }
    }

    @Test func `A plugin has one transaction of saves under way, however many workers save`()
        async throws
    {
        try await ReactorActor.run { actor in
            let bench = try Bench(actor.reactor)
            defer { bench.end() }
            bench.live = Set(1...41)
            let text = String(repeating: "x", count: 60 << 10)
            for run in 1...40 { bench.save(text, run: run, request: UInt64(run)) }
            // Others are behind one save of it, and not behind forty.
            bench.save("another", run: 41, request: 41, plugin: "other")
            bench.commits.commit([.discarded(RunID(high: 9, low: 9))])
            #expect(bench.store.commits.count == 3)
            #expect(bench.saving == [text, "another", "another change"])
            var transactions = 1
            await bench.answer(.success(()))
            while let commit = bench.store.commits.first {
                #expect(bench.store.commits.count == 1)
                let bytes = bench.saving.reduce(0) { $0 + $1.utf8.count }
                #expect(commit.changes.count == bench.saving.count)
                #expect(bytes <= CheckpointCommands.transactionBytesMax)
                transactions += 1
                await bench.answer(.success(()))
            }
            // Four fit into each.
            #expect(transactions == 1 + 10)
            #expect(bench.results.count { $0 == "\(text) true" } == 40)
            #expect(bench.commands.turns.isEmpty && bench.commands.queues.isEmpty)
        }
    }

    @Test func `A save that waits for others of its plugin is replaced, and dropped with its run`()
        async throws
    {
        try await ReactorActor.run { actor in
            let bench = try Bench(actor.reactor)
            defer { bench.end() }
            bench.live = [1, 2, 3]
            bench.save("a")
            for text in ["b", "c"] { bench.save(text, run: 2, request: 2) }
            bench.save("d", run: 3, request: 3)
            let load = Task {
                _ = actor
                let request = RunID(high: 1, low: 3)
                return await bench.commands.load(request, plugin: "plugin")
            }
            await ReactorActor.wait {
                bench.commands.turns.values.contains { !$0.waitingLoads.isEmpty }
            }
            #expect(bench.saving == ["a"])
            bench.live = [1, 2]
            await bench.answer(.success(()))
            #expect(bench.saving == ["c"])
            #expect(bench.results == ["a true", "d false"])
            // The load waited for the save that is not written.
            if case .none = await load.value {} else { Issue.record("there is a checkpoint") }
            await bench.answer(.failure(Self.full))
            #expect(bench.results == ["a true", "d false", "b false", "c false"])
            #expect(bench.commands.turns.isEmpty && bench.commands.queues.isEmpty)
        }
    }
}
