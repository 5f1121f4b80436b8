// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux

/// The thread of one run: its handler starts on it and returns to it after each suspension.
///
/// All of a run uses one thread, including child tasks, in the order in which they become ready: so
/// a handler behaves the same each time. The thread counts its jobs: when there are none, all tasks
/// of the handler wait.
final class RunThread: TaskExecutor {
    private let run: UInt64
    private let core: HostCore
    private let thread = WorkThread()

    init(_ run: UInt64, _ core: HostCore) {
        self.run = run
        self.core = core
    }

    deinit { thread.end() }

    /// Runs work that counts as the run's.
    func perform(_ work: @escaping @Sendable () -> Void) {
        core.became(busy: run)
        thread.perform { [self] in
            work()
            core.became(idle: run)
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
