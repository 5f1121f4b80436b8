// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import Synchronization

/// A queue of work with the name of Apple's; its work belongs to the run that submitted it.
///
/// Swift's pool runs the work. In a worker, `main` runs on the main actor. Inside the daemon, where
/// the plugin has no main thread, and under a test host, it is a serial queue like any other. A
/// file that also imports Dispatch must qualify the name.
public final class DispatchQueue: Sendable {
    private struct Job {
        let context: TaskContext?
        let work: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Job] = []
        var isBusy = false
    }

    /// The serial queue of the main thread.
    public static let main = DispatchQueue("main", isSerial: true, isMain: true)
    private static let concurrent = DispatchQueue("global", isSerial: false)

    /// The label, for debugging.
    public let label: String
    private let isSerial: Bool
    private let isMain: Bool
    private let state = Mutex(State())

    init(_ label: String, isSerial: Bool, isMain: Bool = false) {
        self.label = label
        self.isSerial = isSerial
        self.isMain = isMain
    }

    /// Creates a serial queue.
    public convenience init(label: String) { self.init(label, isSerial: true) }

    /// The concurrent queue.
    public static func global() -> DispatchQueue { concurrent }

    /// Runs work soon on Swift's pool.
    ///
    /// The work should not block.
    public func async(execute work: @escaping @Sendable () -> Void) {
        let job = Job(context: .current, work: work)
        guard isSerial else { return perform(job) {} }
        let isFirst = state.withLock { state in
            state.waiting.append(job)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFirst { next() }
    }

    private func next() {
        let job = state.withLock { state -> Job? in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        if let job { perform(job) { self.next() } }
    }

    private func perform(_ job: Job, then: @escaping @Sendable () -> Void) {
        if isMain, MainThread.isServed {
            Task.detached { @MainActor in
                TaskContext.$current.withValue(job.context) { job.work() }
                then()
            }
            return
        }
        Task.detached(executorPreference: job.context?.executor) {
            TaskContext.$current.withValue(job.context) { job.work() }
            then()
        }
    }
}
