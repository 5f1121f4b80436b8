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

/// The owner of the transactions, with a store that the test answers, and without a process.
@Suite struct CommitQueueTests {
    private final class Results {
        var all: [String] = []
        var pressures: [String?] = []
    }

    private static func makeQueue(
        _ store: ScriptedStore,
        _ reactor: Reactor,
        log: HostLog = HostLog(),
        deadLettersMax: Int = 10
    ) -> CommitQueue {
        CommitQueue(store, reactor: reactor, log: log, deadLettersMax: deadLettersMax)
    }

    private static func text(_ result: Result<Void, StoreError>) -> String {
        switch result {
        case .success: "stored"
        case .failure(let error): error.message
        }
    }

    /// The end of a run after which its request is dead.
    private static func death(_ number: UInt64) -> StoreChange {
        let id = RunID(high: 0, low: number)
        let request = Request(id: id, task: "task", parameters: "{}", submittedAt: 1, priority: 0)
        let record = RunRecord(
            id: RunID(high: 1, low: number),
            request: id,
            task: "task",
            plugin: "plugin",
            outcome: .failed,
            limits: RunLimits(kind: .refresh),
            submittedAt: 1
        )
        return .runEnded(record, then: .dead(request, reason: "it failed"))
    }

    /// The dead letters that changes delete.
    private static func discarded(_ changes: [StoreChange]) -> [UInt64] {
        changes.compactMap { if case .discarded(let id) = $0 { id.low } else { nil } }
    }

    @Test(.timeLimit(.minutes(5)))
    func `Results of another thread arrive on the reactor's, in the order of commits`()
        async throws
    {
        let store = ScriptedStore()
        let all = try await ReactorActor.run { actor in
            let queue = Self.makeQueue(store, actor.reactor)
            let results = Results()
            for number in 1...50 {
                queue.commit([]) { _ in
                    results.all.append(actor.reactor.isCurrent ? "\(number)" : "another thread")
                }
            }
            await store.answerAll(.success(()))
            await ReactorActor.wait { results.all.count == 50 }
            return results.all
        }
        #expect(all == (1...50).map { "\($0)" })
    }

    @Test func `The store may block the thread only if nothing runs and a caller waits`()
        async throws
    {
        let store = ScriptedStore()
        let mayWait = try await ReactorActor.run { actor in
            let queue = Self.makeQueue(store, actor.reactor)
            final class Runs { var count = 0 }
            let runs = Runs()
            queue.begin(mayBlock: { runs.count == 0 }, onPressure: { _ in })
            for count in [0, 1] {
                runs.count = count
                queue.commit([])
                queue.commit([], isAwaited: true)
                queue.commit([]) { _ in }
                queue.commit([], isAwaited: false) { _ in }
                queue.commitOrRefuse([]) { _ in }
            }
            return store.take().map(\.isAwaited)
        }
        #expect(mayWait == [false, true, true, false, true] + [false, false, false, false, false])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A waiting caller gets the store's failure once, in order`() async throws {
        let store = ScriptedStore()
        let full = StoreError("the disk is full", kind: .full)
        let log = HostLog()
        let all = try await ReactorActor.run { actor in
            let queue = Self.makeQueue(store, actor.reactor, log: log)
            let results = Results()
            queue.begin(mayBlock: { true }, onPressure: { results.pressures.append($0) })
            queue.commitOrReport([]) { results.all.append("1 " + Self.text($0)) }
            queue.commitOrReport([]) { results.all.append("2 " + Self.text($0)) }
            queue.commit([]) { results.all.append("patient " + Self.text($0)) }
            let failure = StoreHealth.Failure(since: 1, error: full, isFinal: false)
            await store.setHealth(StoreHealth(failure: failure, waiting: 3, isPressed: true))
            await ReactorActor.wait { results.pressures.count == 1 }
            // While it fails, a later caller learns of it at once.
            queue.commitOrReport([]) { results.all.append("3 " + Self.text($0)) }
            await store.answerAll(.success(()))
            await ReactorActor.wait { results.all.count == 4 }
            await store.setHealth(StoreHealth())
            await ReactorActor.wait { results.pressures.count == 2 }
            return (results.all, results.pressures.map { $0 != nil })
        }
        #expect(
            all.0 == [
                "1 the disk is full", "2 the disk is full", "3 the disk is full", "patient stored",
            ]
        )
        #expect(all.1 == [true, false])
        let events = log.entries(matching: LogFilter(), limit: 100).map(\.event)
        #expect(events == ["store.failed", "store.pressed", "store.recovered"])
    }

    @Test func `A dead letter above the limit is deleted in the transaction that adds one`()
        async throws
    {
        let store = ScriptedStore()
        let discarded = try await ReactorActor.run { actor in
            let queue = Self.makeQueue(store, actor.reactor, deadLettersMax: 2)
            for number in 1...4 as ClosedRange<UInt64> { queue.commit([Self.death(number)]) }
            return (store.take().map { Self.discarded($0.changes) }, queue.deadLetters.count)
        }
        #expect(discarded.0 == [[], [], [1], [2]])
        #expect(discarded.1 == 2)
    }

    @Test func `A deletion that the store refuses leaves the dead letter counted`() async throws {
        let store = ScriptedStore()
        let counts = try await ReactorActor.run { actor in
            let queue = Self.makeQueue(store, actor.reactor)
            queue.commit([Self.death(1)])
            store.answerAtOnce(.failure(StoreError("no")))
            queue.commitOrRefuse([.discarded(RunID(high: 0, low: 1))]) { _ in }
            let afterRefusal = queue.deadLetters.count
            store.answerAtOnce(.success(()))
            queue.commitOrRefuse([.discarded(RunID(high: 0, low: 1))]) { _ in }
            return [afterRefusal, queue.deadLetters.count]
        }
        #expect(counts == [1, 0])
    }
}
