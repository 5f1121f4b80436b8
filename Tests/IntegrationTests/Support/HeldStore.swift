// SPDX-License-Identifier: Apache-2.0

import BghostAudit
import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import Dispatch
import Synchronization

/// A store in memory that answers when the test says so, like a slow disk.
final class HeldStore: Store {
    private struct State {
        var isHeld = false
        /// Begins to hold with the first commit that it wants.
        var mustHold: (@Sendable ([StoreChange]) -> Bool)?
        var waiting: [@Sendable () -> Void] = []
        /// Held while questions are to wait.
        var holdsQuestions = false
        var waitingQuestions: [DispatchSemaphore] = []
        var lastRunsAsked: [Int] = []
    }

    private let store = MemoryStore()
    private let state = Mutex(State())
    private let arrivals = AsyncStream<[StoreChange]>.makeStream()

    func keep(history policy: HistoryPolicy) { store.keep(history: policy) }

    func skippedStarts(_ query: SkippedStartQuery) -> SkippedStartPage {
        store.skippedStarts(query)
    }

    func runDays(_ query: RunDayQuery) -> RunDayPage { store.runDays(query) }

    func runs(task: String, endedFrom date: Int64, limit: Int) -> [RunRecord] {
        store.runs(task: task, endedFrom: date, limit: limit)
    }

    func oldestEnd() -> Int64? { store.oldestEnd() }
    func audit(_ query: AuditQuery) -> AuditPage { store.audit(query) }
    func auditHead() -> AuditHead? { store.auditHead() }
    func advance(_ check: AuditCheck) -> AuditCheck? { store.advance(check) }

    func runs(_ query: RunQuery) -> RunPage {
        asked()
        return store.runs(query)
    }

    func hold() { state.withLock { $0.isHeld = true } }

    /// Holds the next row of the audit with this verb and status, and all that is committed after it.
    func hold(rowOf verb: String, _ status: AuditStatus) {
        state.withLock { state in
            state.mustHold = { changes in
                changes.contains {
                    guard case .audited(let row) = $0 else { return false }
                    return row.verb == verb && row.status == status
                }
            }
        }
    }

    /// Makes every question wait on its own thread, until `letQuestionsGo`.
    func holdQuestions() { state.withLock { $0.holdsQuestions = true } }

    func letQuestionsGo() {
        let waiting = state.withLock { state in
            state.holdsQuestions = false
            defer { state.waitingQuestions = [] }
            return state.waitingQuestions
        }
        for question in waiting { question.signal() }
    }

    private func asked() {
        let gate = state.withLock { state -> DispatchSemaphore? in
            guard state.holdsQuestions else { return nil }
            let gate = DispatchSemaphore(value: 0)
            state.waitingQuestions.append(gate)
            return gate
        }
        guard let gate else { return }
        arrivals.continuation.yield([])
        gate.wait()
    }

    /// Waits for the next commit or question that is held.
    func untilHeld() async {
        for await _ in arrivals.stream { return }
    }

    /// Waits until the commit of a new request is held; others may come before it.
    func untilRequestHeld() async {
        for await changes in arrivals.stream {
            let isRequest = changes.contains { if case .accepted = $0 { true } else { false } }
            if isRequest { return }
        }
    }

    /// Answers all that was held, in order.
    func letGo() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for commit in waiting { commit() }
    }

    func commit(
        _ changes: [StoreChange],
        isAwaited: Bool,
        onFailure: CommitFailurePolicy,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        let isHeld = state.withLock { state in
            if state.mustHold?(changes) == true { (state.isHeld, state.mustHold) = (true, nil) }
            return state.isHeld
        }
        // Questions see what is not answered yet, as those of a real store do.
        store.commit(changes) { [self] result in
            guard isHeld else { return completion(result) }
            state.withLock { $0.waiting.append { completion(result) } }
        }
        if isHeld { arrivals.continuation.yield(changes) }
    }

    var health: StoreHealth { store.health }
    func onHealthChange(_ body: @escaping @Sendable () -> Void) {}
    func retryNow() {}
    func answer(_ body: @escaping @Sendable () -> Void) { store.answer(body) }
    func flush(until deadline: MonotonicInstant) -> Int { store.flush(until: deadline) }
    func abortFlush() {}

    func recover(
        expecting expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(StoreError) -> RecoveredState {
        try store.recover(expecting: expect, each)
    }
    func runs(task: String?, limit: Int) -> [RunRecord] {
        asked()
        return store.runs(task: task, limit: limit)
    }
    func runs(idPrefix: String, limit: Int) -> [RunRecord] {
        asked()
        return store.runs(idPrefix: idPrefix, limit: limit)
    }
    func run(ofRequest id: RunID) -> RunRecord? {
        // The answer of before the wait, which may have become old.
        let answer = store.run(ofRequest: id)
        asked()
        return answer
    }
    func output(ofRun id: RunID) -> String {
        asked()
        return store.output(ofRun: id)
    }
    func checkpoint(ofRequest id: RunID) -> StoredCheckpoint {
        asked()
        return store.checkpoint(ofRequest: id)
    }
    func checkpoints(idPrefix: String, limit: Int) -> [CheckpointSummary] {
        asked()
        return store.checkpoints(idPrefix: idPrefix, limit: limit)
    }
    func checkpoints(_ query: CheckpointQuery) -> CheckpointPage {
        asked()
        return store.checkpoints(query)
    }
    func lastRun(task: String) -> RunRecord? {
        asked()
        return store.lastRun(task: task)
    }
    func lastRuns(tasks: [String]) -> [String: RunRecord] {
        asked()
        state.withLock { $0.lastRunsAsked.append(tasks.count) }
        return store.lastRuns(tasks: tasks)
    }
    /// For how many tasks their newest runs were asked for, by question.
    var lastRunsAsked: [Int] { state.withLock { $0.lastRunsAsked } }
    func deadLetters(task: String?, limit: Int) -> [DeadLetter] {
        asked()
        return store.deadLetters(task: task, limit: limit)
    }
    func deadLetters(_ query: DeadLetterQuery) -> DeadLetterPage {
        asked()
        return store.deadLetters(query)
    }
    func backup(to path: String) throws(StoreError) { try store.backup(to: path) }
    func close() { store.close() }
}
