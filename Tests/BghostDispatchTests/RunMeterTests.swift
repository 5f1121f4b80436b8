// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostMetrics
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
@testable import BghostStore
import Synchronization
import Testing

/// The owners of what the metrics show, without a daemon and without a process.
@Suite(.timeLimit(.minutes(5))) struct RunMeterTests {
    private static func record(_ task: String, _ outcome: Outcome, at end: Int64 = 5) -> RunRecord {
        RunRecord(
            id: RunID(high: 2, low: 1),
            request: RunID(high: 1, low: 1),
            task: task,
            plugin: "plugin",
            outcome: outcome,
            limits: RunLimits(kind: .refresh),
            submittedAt: 0,
            endedAt: end,
            usage: RunUsage(cpu: .seconds(2))
        )
    }

    private static func ofTask(_ meter: RunMeter, _ name: String) -> RunStatistics.OfTask? {
        meter.counts().tasksByName.first { $0.name == name }?.counts
    }

    @Test func `A member of a family is counted under the pattern, and what no task has apart`()
        async throws
    {
        try await ReactorActor.run { actor in
            let bench = CommandBench(
                actor.reactor,
                try CommandBench.manifest(["job.*", "job.own", "other"])
            )
            let meter = RunMeter(bench.dispatcher)
            // Each task and plugin has its series before the first run.
            #expect(meter.counts().tasksByName.map(\.name) == ["job.*", "job.own", "other"])
            #expect(meter.counts().pluginsByName.map(\.name) == ["plugin"])
            for task in ["job.1", "job.2", "job.own", "gone"] {
                meter.ended(Self.record(task, .succeeded, at: 7))
            }
            meter.ended(Self.record("job.3", .failed, at: 8))
            #expect(Self.ofTask(meter, "job.*")?.count(.succeeded) == 2)
            #expect(Self.ofTask(meter, "job.*")?.consecutiveFailures == 1)
            #expect(Self.ofTask(meter, "job.*")?.lastEnd == 8)
            #expect(Self.ofTask(meter, "job.*")?.lastSuccess == 7)
            #expect(Self.ofTask(meter, "job.own")?.count(.succeeded) == 1)
            #expect(Self.ofTask(meter, "other")?.count(.succeeded) == 0)
            #expect(Self.ofTask(meter, RunStatistics.otherName)?.count(.succeeded) == 1)
            #expect(meter.counts().tasksByName.count == 4)
        }
    }

    @Test func `A run is active between its start and its end`() async throws {
        try await ReactorActor.run { actor in
            let meter = RunMeter(CommandBench(actor.reactor).dispatcher)
            func plugin() -> RunStatistics.OfPlugin? { meter.counts().pluginsByName.first?.counts }
            meter.started(plugin: "plugin", delay: 3)
            meter.started(plugin: "plugin", delay: 3)
            #expect(plugin()?.active == 2)
            let record = Self.record("backup", .killed(.memory))
            meter.stopped(record, duration: 9, cancelDuration: nil)
            meter.ended(record)
            #expect(plugin()?.active == 1)
            #expect(plugin()?.processorTime == 2_000_000_000)
            #expect(plugin()?.kills.map(\.value) == [1])
            // An end without a start does not go below none.
            for _ in 0..<2 { meter.stopped(record, duration: 9, cancelDuration: 1) }
            #expect(plugin()?.active == 0)
        }
    }

    // MARK: Metrics

    private final class Recorder: SpanRecorder {
        private let state: Mutex<(isOn: Bool, counts: SpanCounts)>

        init(isOn: Bool, exported: UInt64) {
            var counts = SpanCounts()
            counts.exported = exported
            state = Mutex((isOn, counts))
        }

        var isOn: Bool { state.withLock(\.isOn) }
        var counts: SpanCounts { state.withLock(\.counts) }
        func samples(traceLow: UInt64) -> Bool { false }
        func record(_ span: Span) {}
    }

    private static func reader(
        _ bench: CommandBench,
        spans: (any SpanRecorder)? = nil,
        plugins: [MetricsSnapshot.Plugin] = []
    ) -> MetricsReader {
        MetricsReader(
            bench.dispatcher,
            bench.commits,
            RunMeter(bench.dispatcher),
            LoopMeter(bench.commits.reactor),
            bench.intake,
            log: bench.log,
            version: "1",
            startedAt: 0,
            spans: spans,
            plugins: { plugins }
        )
    }

    @Test func `A task has its next start and its pause, and a family has neither`() async throws {
        try await ReactorActor.run { actor in
            let bench = CommandBench(
                actor.reactor,
                try CommandBench.manifest(["a", "b", "c", "job.*"])
            )
            let reader = Self.reader(bench)
            let pause = Pause(target: .tasks("b"), since: 1, user: "root")
            bench.dispatcher.decide { $0.pause(pause, now: $1, &$2) }
            try await bench.submit("a", in: 60)
            try await bench.submit("b")
            try await bench.submit("job.1", in: 60)
            let snapshot = reader.snapshot()
            #expect(snapshot.tasks.map(\.name) == ["a", "b", "c"])
            #expect(
                snapshot.tasks.map(\.nextStart) == [
                    CommandBench.start + 60 * CommandBench.second, CommandBench.start, nil,
                ]
            )
            #expect(snapshot.tasks.map(\.isPaused) == [false, true, false])
            #expect(snapshot.pendingRequests == 3 && snapshot.slots == 2)
            #expect(!snapshot.isDraining && snapshot.alerts == nil && snapshot.fleet == nil)
            bench.dispatcher.decide { scheduler, now, _ in scheduler.drain(now: now) }
            #expect(reader.snapshot().isDraining)
        }
    }

    @Test func `Submissions and their transactions are counted, with the reasons of refusals`()
        async throws
    {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor, try CommandBench.manifest(["a"]))
            let reader = Self.reader(bench)
            try await bench.submit("a", in: 60)
            await #expect(throws: SubmitError.self) { try await bench.submit("b") }
            bench.store.answerAtOnce(.failure(CommandBench.full))
            await #expect(throws: SubmitError.self) { try await bench.submit("a", in: 60) }
            let snapshot = reader.snapshot()
            #expect(snapshot.submissions.stored == 1)
            #expect(snapshot.submissions.count(.notPermitted) == 1)
            #expect(snapshot.submissions.count(.storeFailed) == 1)
            let all = SubmissionCounts.Refusal.allCases.map(snapshot.submissions.count)
            #expect(all.reduce(0, +) == 2)
            #expect(snapshot.commits.count == 2)
        }
    }

    @Test func `Each reason of a refusal has its own count`() {
        let labels = SubmitErrorCode.allCases.map(\.refusal)
        #expect(labels == SubmissionCounts.Refusal.allCases)
    }

    @Test func `A turn takes as long as its work`() async throws {
        try await ReactorActor.run { actor in
            let loop = LoopMeter(actor.reactor)
            let began = Monotonic.now
            while Monotonic.now < began + 3_000_000 {}
            loop.turnEnded()
            #expect(loop.turns.count == 1)
            #expect(loop.turns.sum >= 3_000_000)
        }
    }

    @Test func `The metrics of ten thousand tasks and a thousand plugins are bounded`()
        async throws
    {
        try await ReactorActor.run { actor in
            let manifest = Manifest(
                plugins: (0..<1000).map {
                    PluginDefinition(name: "plugin\($0)", library: "plugin\($0).so")
                },
                tasks: try (0..<10_000).map {
                    TaskDefinition(
                        identifier: try #require(IdentifierPattern("org.example.task\($0)")),
                        handler: .plugin(name: "plugin\($0 % 1000)", handler: "h")
                    )
                }
            )
            let bench = CommandBench(actor.reactor, manifest)
            let states = manifest.plugins.map {
                MetricsSnapshot.Plugin(name: $0.name, state: .ready)
            }
            let reader = Self.reader(bench, plugins: states)
            let snapshot = reader.snapshot()
            #expect(snapshot.tasks.count == RunStatistics.tasksMax)
            #expect(snapshot.plugins.count == RunStatistics.pluginsMax)
            #expect(snapshot.statistics.tasksByName.count == RunStatistics.tasksMax)
            #expect(snapshot.statistics.pluginsByName.count == RunStatistics.pluginsMax)
        }
    }

    @Test func `Spans are shown while they are exported, and after that if any were`() async throws
    {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor)
            for (isOn, exported, isShown) in [
                (false, 0, false), (true, 0, true), (false, 3, true),
            ] as [(Bool, UInt64, Bool)] {
                let recorder = Recorder(isOn: isOn, exported: exported)
                let spans = Self.reader(bench, spans: recorder).snapshot().spans
                #expect((spans != nil) == isShown && spans?.exported ?? 0 == exported)
            }
            #expect(Self.reader(bench).snapshot().spans == nil)
        }
    }

    @Test func `A store that fails is shown with the time since which it does`() async throws {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor)
            let reader = Self.reader(bench)
            #expect(reader.snapshot().storeFailingSince == nil)
            bench.commits.begin(mayBlock: { false }, onPressure: { _ in })
            let failure = StoreHealth.Failure(since: 77, error: CommandBench.full, isFinal: false)
            await bench.store.setHealth(StoreHealth(failure: failure, waiting: 1))
            #expect(reader.snapshot().storeFailingSince == 77)
        }
    }
}
