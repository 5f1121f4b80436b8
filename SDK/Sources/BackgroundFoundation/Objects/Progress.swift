// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
internal import Synchronization

/// The progress of work, in units of the caller's choice.
///
/// That of a `BGContinuedProcessingTask` reports each change to the host. That of a task of a session is a
/// snapshot. Use it from any thread.
public final class Progress: NSObject, @unchecked Sendable {
    // @unchecked: the base class has no state, and the lock protects this class's own.
    private struct Counts {
        var completed: Int64
        var total: Int64
    }

    private struct Cancellation {
        var isCancelled = false
        var handler: (@Sendable () -> Void)?
    }

    private let counts: Mutex<Counts>
    private let cancellation = Mutex(Cancellation())
    /// Called after each change of a count, outside of the lock.
    private let changed: (@Sendable (_ completed: Int64, _ total: Int64) -> Void)?

    init(
        completed: Int64,
        total: Int64,
        changed: (@Sendable (_ completed: Int64, _ total: Int64) -> Void)? = nil
    ) {
        counts = Mutex(Counts(completed: completed, total: total))
        self.changed = changed
    }

    /// Creates the progress of work of which nothing is done.
    ///
    /// - Parameter totalUnitCount: all units; negative if unknown.
    public convenience init(totalUnitCount: Int64) {
        self.init(completed: 0, total: totalUnitCount)
    }

    /// Creates the progress of work of which nothing is done, and which belongs to no other.
    ///
    /// - Parameter unitCount: all units; negative if unknown.
    public static func discreteProgress(totalUnitCount unitCount: Int64) -> Progress {
        Progress(totalUnitCount: unitCount)
    }

    /// The completed units.
    public var completedUnitCount: Int64 {
        get { counts.withLock { $0.completed } }
        set { change { $0.completed = newValue } }
    }

    /// The total units; negative if unknown.
    public var totalUnitCount: Int64 {
        get { counts.withLock { $0.total } }
        set { change { $0.total = newValue } }
    }

    private func change(_ body: (inout Counts) -> Void) {
        let now = counts.withLock { counts in
            body(&counts)
            return counts
        }
        changed?(now.completed, now.total)
    }

    /// From 0 to 1; 0 if the total is unknown.
    public var fractionCompleted: Double {
        let (completed, total) = counts.withLock { ($0.completed, $0.total) }
        guard total > 0 else { return total == 0 && completed > 0 ? 1 : 0 }
        return max(0, min(1, Double(completed) / Double(total)))
    }

    /// Whether the total is unknown.
    public var isIndeterminate: Bool {
        counts.withLock { $0.total < 0 || $0.completed < 0 || ($0.total == 0 && $0.completed == 0) }
    }

    /// Whether all units are completed.
    public var isFinished: Bool {
        counts.withLock { counts in
            guard counts.total >= 0, counts.completed >= counts.total else { return false }
            return counts.total > 0 || counts.completed > 0
        }
    }

    /// Whether `cancel()` was called.
    public var isCancelled: Bool { cancellation.withLock { $0.isCancelled } }

    /// Called once when the work is cancelled, or at once if it already is.
    public var cancellationHandler: (@Sendable () -> Void)? {
        get { cancellation.withLock { $0.handler } }
        set {
            let isLate = cancellation.withLock { cancellation in
                cancellation.handler = newValue
                return cancellation.isCancelled
            }
            if isLate { newValue?() }
        }
    }

    /// Marks the work as cancelled, and calls the handler; further calls do nothing.
    public func cancel() {
        let handler = cancellation.withLock { cancellation -> (@Sendable () -> Void)? in
            guard !cancellation.isCancelled else { return nil }
            cancellation.isCancelled = true
            return cancellation.handler
        }
        handler?()
    }
}

/// Work that reports progress.
public protocol ProgressReporting: NSObjectProtocol {
    /// The progress of the work.
    var progress: Progress { get }
}

extension BGContinuedProcessingTask: NSObjectProtocol, ProgressReporting {
    /// The progress of the run, the same object at each call.
    ///
    /// The host gets each change of its counts, and drops reports that are too frequent.
    public var progress: Progress {
        objects.object { [weak self] in
            Progress(completed: 0, total: 0) { [weak self] in self?.report(completed: $0, of: $1) }
        }
    }
}
