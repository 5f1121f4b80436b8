// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
@testable import BghostStore
import Synchronization
import Testing

/// What the commands of operators stand on, with a store and a wall clock of the test; no run starts.
final class CommandBench {
    static let second: Int64 = 1_000_000_000
    /// 2030-03-17T17:46:40Z.
    static let start: Int64 = 1_900_000_000 * second

    /// The wall clock, which only the test moves.
    final class Wall: Sendable {
        private let now = Mutex(CommandBench.start)

        var value: Int64 { now.withLock(\.self) }

        func pass(seconds: Int64) { now.withLock { $0 += seconds * CommandBench.second } }
    }

    let wall = Wall()
    let store = ScriptedStore()
    let log = HostLog(level: .debug)
    let deadlines: Deadlines
    let clock: DaemonClock
    let dispatcher: Dispatcher
    let commits: CommitQueue
    let intake: RequestIntake
    /// The runs that the scheduler decided to start.
    private(set) var started: [RunStart] = []

    /// The store answers each commit at once until the test says otherwise.
    init(
        _ reactor: Reactor,
        _ manifest: Manifest = SampleManifest.make(),
        deadLettersMax: Int = 10
    ) {
        let wall = wall
        store.answerAtOnce(.success(()))
        deadlines = Deadlines(reactor)
        clock = DaemonClock(reactor, machineWall: { wall.value }, machineSlept: { 0 })
        let clock = clock
        dispatcher = Dispatcher(
            SampleManifest.settings(manifest),
            moment: { clock.moment },
            recorder: nil
        )
        commits = CommitQueue(store, reactor: reactor, log: log, deadLettersMax: deadLettersMax)
        intake = RequestIntake(dispatcher, commits)
        dispatcher.begin { [unowned self] effect in
            switch effect {
            case .commit(let changes), .commitEnd(let changes, _): commits.commit(changes)
            case .startRun(let start): started.append(start)
            default: break
            }
        } onRoundEnd: {
        }
        dispatcher.decide { scheduler, now, effects in
            scheduler.setIncarnation(1, now: now)
            scheduler.start(now: now, &effects)
        }
    }

    /// A request that starts so many seconds from now; at once with 0.
    @discardableResult
    nonisolated(nonsending) func submit(
        _ task: String = "backup",
        in seconds: Int64 = 0,
        parameters: String = "{}"
    ) async throws -> Request {
        let date = seconds == 0 ? nil : wall.value + seconds * Self.second
        let submission = Submission(task: task, parameters: parameters, earliestBegin: date)
        return try await intake.submit(submission, isManual: false).request
    }

    /// The names of the logged events, the first at the beginning.
    var events: [String] { log.entries(matching: LogFilter(), limit: 1000).map(\.event) }

    /// A manifest of one plugin, `plugin`, with these tasks and families.
    static func manifest(
        _ tasks: [String],
        _ change: (inout TaskDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        var manifest = SampleManifest.make()
        manifest.plugins[0].maxPending = PendingLimits(refresh: 2000, processing: 2000)
        manifest.tasks = try tasks.map { name in
            var task = TaskDefinition(
                identifier: try #require(IdentifierPattern(name)),
                handler: .plugin(name: "plugin", handler: "h")
            )
            change(&task)
            return task
        }
        return manifest
    }

    static let full = StoreError("the disk is full", kind: .full)
}
