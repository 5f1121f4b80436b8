// SPDX-License-Identifier: Apache-2.0

package import BghostAudit
package import BghostBase
package import BghostModel
package import BghostPolicy
package import BghostStore
import Dispatch
import Synchronization

/// A store that a test answers: each commit waits until the test gives it a result.
package final class ScriptedStore: Store {
    package struct Commit: Sendable {
        package var changes: [StoreChange]
        package var isAwaited: Bool
        package var onFailure: CommitFailurePolicy
        package var completion: @Sendable (Result<Void, StoreError>) -> Void
    }

    private struct State {
        var commits: [Commit] = []
        var answersAtOnce: Result<Void, StoreError>?
        var health = StoreHealth()
        var onHealthChange: @Sendable () -> Void = {}
        var retries = 0
        var isHanging = false
        var questions: [@Sendable () -> Void] = []
        var deadLetters: [DeadLetter] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Answers each later commit at once, as a store in memory does; with `nil` each waits again.
    package func answerAtOnce(_ result: Result<Void, StoreError>?) {
        state.withLock { $0.answersAtOnce = result }
    }

    package func keep(history policy: HistoryPolicy) {}
    package func runs(_ query: RunQuery) -> RunPage { RunPage() }
    package func skippedStarts(_ query: SkippedStartQuery) -> SkippedStartPage {
        SkippedStartPage()
    }
    package func runs(task: String, endedFrom date: Int64, limit: Int) -> [RunRecord] { [] }
    package func runDays(_ query: RunDayQuery) -> RunDayPage { RunDayPage() }
    package func oldestEnd() -> Int64? { nil }
    package func audit(_ query: AuditQuery) -> AuditPage { AuditPage() }
    package func auditHead() -> AuditHead? { nil }
    package func advance(_ check: AuditCheck) -> AuditCheck? { nil }

    /// The commits that wait.
    package var commits: [Commit] { state.withLock(\.commits) }

    /// Removes and returns the commits that wait.
    package func take() -> [Commit] {
        state.withLock { state in
            defer { state.commits = [] }
            return state.commits
        }
    }

    /// Answers all waiting commits on another thread, in their order, and returns afterwards.
    package func answerAll(_ result: Result<Void, StoreError>) async {
        let commits = take()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                for commit in commits { commit.completion(result) }
                continuation.resume()
            }
        }
    }

    /// Changes the health, and reports that on another thread.
    package func setHealth(_ health: StoreHealth) async {
        let report = state.withLock { state in
            state.health = health
            return state.onHealthChange
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                report()
                continuation.resume()
            }
        }
    }

    /// Sets what questions for dead letters find, the newest first; no commit changes it.
    package func setDeadLetters(_ letters: [DeadLetter]) {
        state.withLock { $0.deadLetters = letters }
    }

    package var retries: Int { state.withLock { $0.retries } }

    /// Lets the thread that writes hang, or go on; then it answers what it was asked meanwhile.
    package func hang(_ isHanging: Bool) async {
        let questions = state.withLock { state -> [@Sendable () -> Void] in
            state.isHanging = isHanging
            guard !isHanging else { return [] }
            defer { state.questions = [] }
            return state.questions
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                for question in questions { question() }
                continuation.resume()
            }
        }
    }

    // MARK: Store

    package func commit(
        _ changes: [StoreChange],
        isAwaited: Bool,
        onFailure: CommitFailurePolicy,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        let result = state.withLock { state in
            if state.answersAtOnce == nil {
                state.commits.append(
                    Commit(
                        changes: changes,
                        isAwaited: isAwaited,
                        onFailure: onFailure,
                        completion: completion
                    )
                )
            }
            return state.answersAtOnce
        }
        if let result { completion(result) }
    }

    package var health: StoreHealth { state.withLock { $0.health } }

    package func onHealthChange(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.onHealthChange = body }
    }

    package func answer(_ body: @escaping @Sendable () -> Void) {
        let isHanging = state.withLock { state in
            if state.isHanging { state.questions.append(body) }
            return state.isHanging
        }
        if !isHanging { body() }
    }

    package func retryNow() { state.withLock { $0.retries += 1 } }
    package func flush(until deadline: MonotonicInstant) -> Int { 0 }
    package func abortFlush() {}

    package func recover(
        expecting expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(StoreError) -> RecoveredState { RecoveredState(incarnation: 1) }

    package func runs(task: String?, limit: Int) -> [RunRecord] { [] }
    package func runs(idPrefix: String, limit: Int) -> [RunRecord] { [] }
    package func run(ofRequest id: RunID) -> RunRecord? { nil }
    package func output(ofRun id: RunID) -> String { "" }
    package func checkpoint(ofRequest id: RunID) -> StoredCheckpoint { .none }
    package func checkpoints(idPrefix: String, limit: Int) -> [CheckpointSummary] { [] }
    package func checkpoints(_ query: CheckpointQuery) -> CheckpointPage { CheckpointPage() }
    package func lastRun(task: String) -> RunRecord? { nil }
    package func lastRuns(tasks: [String]) -> [String: RunRecord] { [:] }

    package func deadLetters(task: String?, limit: Int) -> [DeadLetter] {
        let all = state.withLock(\.deadLetters)
        return Array(all.filter { task == nil || $0.request.task == task }.prefix(limit))
    }

    package func deadLetters(_ query: DeadLetterQuery) -> DeadLetterPage { DeadLetterPage() }
    package func backup(to path: String) throws(StoreError) {}
    package func close() {}
}
