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

    /// - Parameter spawner: its thread answers while no other thread can be started; starts of workers
    ///   then wait for the question.
    package init(_ store: any Store, _ threads: BlockingThreads, spawner: Spawner) {
        self.store = store
        self.threads = threads
        self.spawner = spawner
    }

    /// Asks the store, and returns on the caller's executor.
    ///
    /// - Parameter question: called once, on another thread until ``finish()`` has returned.
    package nonisolated(nonsending) func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (any Store) -> Answer
    ) async -> Answer {
        // The daemon has no runs any more, so nothing is late if this thread waits.
        guard !isFinished else { return question(store) }
        open += 1
        defer { open -= 1 }
        return await withCheckedContinuation { continuation in
            let work: @Sendable () -> Void = { [store] in
                continuation.resume(returning: question(store))
            }
            if let thread = threads.thread(for: .history) {
                thread.perform(work)
            } else {
                spawner.perform(work)
            }
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
