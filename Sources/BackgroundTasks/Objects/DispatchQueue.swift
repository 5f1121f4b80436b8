// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A queue of work under the name of Apple's, without libdispatch's main thread.
///
/// In a worker nothing serves the real main queue, so work that is sent there would wait for ever.
/// This one is served by Swift's pool, `main` like any other serial queue, and work knows the run that
/// has sent it. A file that imports Dispatch as well must say which of the two it means.
public final class DispatchQueue: Sendable {
    private struct Job {
        let context: TaskContext?
        let work: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Job] = []
        var isBusy = false
    }

    /// A serial queue of the process; its work is on no particular thread.
    public static let main = DispatchQueue(label: "main")
    private static let concurrent = DispatchQueue("global", isSerial: false)

    /// For people.
    public let label: String
    private let isSerial: Bool
    private let state = Mutex(State())

    private init(_ label: String, isSerial: Bool) {
        self.label = label
        self.isSerial = isSerial
    }

    /// Makes a serial queue.
    public convenience init(label: String) { self.init(label, isSerial: true) }

    /// The queue whose work may overlap.
    public static func global() -> DispatchQueue { concurrent }

    /// Has work done soon, on Swift's pool; it should not block.
    public func async(execute work: @escaping @Sendable () -> Void) {
        let job = Job(context: .current, work: work)
        guard isSerial else { return Self.perform(job) {} }
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
        if let job { Self.perform(job) { self.next() } }
    }

    private static func perform(_ job: Job, then: @escaping @Sendable () -> Void) {
        Task.detached(executorPreference: job.context?.executor) {
            TaskContext.$current.withValue(job.context) { job.work() }
            then()
        }
    }
}
