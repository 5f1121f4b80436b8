// SPDX-License-Identifier: Apache-2.0

// A release is built with the static runtime, which brings no tests along.
#if canImport(Testing)
    import Glibc
    import Synchronization
    package import Testing

    /// Runs the tests of a suite that block, or compute for long, on threads that nothing else waits for.
    ///
    /// Of Swift's pool there are as many threads as processors. A test that holds one of them for seconds
    /// holds up all that waits for the others, and their time limits count meanwhile.
    package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
        package var isRecursive: Bool { true }

        package func provideScope(
            for test: Test,
            testCase: Test.Case?,
            performing function: @Sendable @concurrent () async throws -> Void
        ) async throws {
            try await withTaskExecutorPreference(SpareThreads.shared) { try await function() }
        }
    }

    extension Trait where Self == OwnThreads {
        /// The test blocks its thread, or computes for long.
        package static var ownThreads: OwnThreads { OwnThreads() }
    }

    /// Runs a server of a test whose suite is `.ownThreads` on Swift's pool.
    ///
    /// Services stop by way of `merge` of swift-async-algorithms, which, up to 1.1.4 at least, holds a lock
    /// while its task may change threads (its issue 430). If the task prefers an executor, as all tasks of
    /// such a suite do, that waits for the thread that cancels the task, which waits for the lock. A task that is not
    /// a child has no preference.
    package func onPool<Answer: Sendable>(
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let task = Task { try await body() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// As many threads as there are jobs at one time; they stay, for the next ones.
    private final class SpareThreads: TaskExecutor {
        static let shared = SpareThreads()

        private struct State {
            var jobs: [UnownedJob] = []
            var idle = 0
        }

        private let state = Mutex(State())
        nonisolated(unsafe) private let wake: UnsafeMutablePointer<sem_t>

        private init() {
            wake = .allocate(capacity: 1)
            sem_init(wake, 0, 0)
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let isThreadNeeded = state.withLock { state in
                state.jobs.append(job)
                guard state.jobs.count > state.idle else { return false }
                state.idle += 1
                return true
            }
            if isThreadNeeded { startThread() }
            sem_post(wake)
        }

        /// It is counted already.
        private func startThread() {
            var thread = pthread_t()
            let code = pthread_create(
                &thread,
                nil,
                { _ in
                    SpareThreads.shared.work()
                    return nil
                },
                nil
            )
            precondition(code == 0, "a thread for a test: \(code)")
            pthread_detach(thread)
        }

        /// An idle thread is counted until it has taken a job.
        private func work() {
            while true {
                while sem_wait(wake) != 0 {}
                let job = state.withLock { state in
                    state.idle -= 1
                    return state.jobs.removeFirst()
                }
                job.runSynchronously(on: asUnownedTaskExecutor())
                state.withLock { $0.idle += 1 }
            }
        }
    }
#endif
