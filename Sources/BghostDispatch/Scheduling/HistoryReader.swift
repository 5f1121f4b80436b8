// SPDX-License-Identifier: Apache-2.0

package import BghostLinux
package import BghostServices
package import BghostStore

/// Reads ended runs and dead letters from the store, on a thread that may wait for the disk.
///
/// The host's own thread enforces the limits of runs, so no question may make it read a file. The
/// answers include transactions that are not on the disk yet. A question that is asked after a commit
/// sees the commit, unless the store failed.
///
/// Use it on the host's executor only. A question costs there what its answer costs to hand over.
package final class HistoryReader {
    private let store: any Store
    private let threads: BlockingThreads
    private let spawner: Spawner
    /// The number of questions without an answer.
    private var open = 0
    private var isFinished = false
    /// Whether a question is being answered.
    private var isBusy = false
    /// The host's own questions, such as the checkpoint that a run loads, and those of clients.
    ///
    /// Clients may ask many that take long, so the host's come first.
    private var (own, others): ([@Sendable () -> Void], [@Sendable () -> Void]) = ([], [])

    /// - Parameter spawner: its thread answers while no other thread can be started; starts of workers
    ///   then wait for the question.
    package init(_ store: any Store, _ threads: BlockingThreads, spawner: Spawner) {
        self.store = store
        self.threads = threads
        self.spawner = spawner
    }

    /// Asks the store, and returns on the caller's executor.
    ///
    /// - Parameters:
    ///   - isOwn: whether a run waits for the answer, which then precedes the questions of clients.
    ///   - question: called once, on another thread until ``finish()`` has returned.
    package nonisolated(nonsending) func ask<Answer: Sendable>(
        isOwn: Bool = false,
        _ question: @escaping @Sendable (any Store) -> Answer
    ) async -> Answer {
        // The daemon has no runs any more, so nothing is late if this thread waits.
        guard !isFinished else { return question(store) }
        open += 1
        defer { open -= 1 }
        let answer = await withCheckedContinuation { continuation in
            let work: @Sendable () -> Void = { [store] in
                continuation.resume(returning: question(store))
            }
            if isOwn { own.append(work) } else { others.append(work) }
            answerNext()
        }
        isBusy = false
        answerNext()
        return answer
    }

    private func answerNext() {
        guard !isBusy, !own.isEmpty || !others.isEmpty else { return }
        isBusy = true
        // As many wait as requests may be under way.
        let work = own.isEmpty ? others.removeFirst() : own.removeFirst()
        if let thread = threads.thread(for: .history) {
            thread.perform(work)
        } else {
            spawner.perform(work)
        }
    }

    /// Returns when every question has its answer; later ones are answered on the caller's thread.
    ///
    /// Call it before the threads and the host's executor end: a later answer would reach nothing.
    package nonisolated(nonsending) func finish() async {
        while open > 0 { await ask { _ in } }
        isFinished = true
    }
}
