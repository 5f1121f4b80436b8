// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux

/// The thread of one run: its handler begins on it, and is on it again after each suspension.
///
/// One thread for all of a run, with its child tasks, in the order in which they are ready: so a
/// handler does the same in each run of a test. And what is on it is counted: when nothing is, all of
/// the handler's tasks wait for something.
final class RunThread: TaskExecutor {
    private let run: UInt64
    private let core: HostCore
    private let thread = WorkThread()

    init(_ run: UInt64, _ core: HostCore) {
        self.run = run
        self.core = core
    }

    deinit { thread.end() }

    /// Has work done that counts as the run's.
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
