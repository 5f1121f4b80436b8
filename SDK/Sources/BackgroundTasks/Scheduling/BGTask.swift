// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A run, as a launch handler gets it.
///
/// Call `setTaskCompleted(success:)` as soon as the work is done: until then the run is in
/// progress, and a run that is never completed is killed at its limit. Use it from any thread.
public class BGTask: @unchecked Sendable {
    // @unchecked: the lock protects all mutable state; the expiration handler is called only once.
    private struct State {
        var expiration: (() -> Void)?
        var hasExpired = false
        var success: Bool?
        /// Where it was reported.
        var place: SourcePlace?
        var waiter: CheckedContinuation<Bool, Never>?
    }

    /// The identifier of the task in `tasks.json`.
    public let identifier: String
    private let state = Mutex(State())

    init(identifier: String) { self.identifier = identifier }

    /// Called once when the run is cancelled, on a thread of the host, for at most 100 ms.
    ///
    /// If it is set after the cancellation, it is called at once.
    public var expirationHandler: (() -> Void)? {
        get { locked { $0.expiration } }
        set {
            let isLate = locked { state in
                // After the end it is never called, and must not retain what it captures.
                let isOpen = state.success == nil
                state.expiration = isOpen && !state.hasExpired ? newValue : nil
                return isOpen && state.hasExpired
            }
            if isLate { newValue?() }
        }
    }

    /// Ends the run; further calls do nothing.
    ///
    /// - Parameters:
    ///   - success: `false` reports a failure, which is retried if the manifest says so; after the run was
    ///     cancelled, it reports a cancellation.
    ///   - fileID: the file of the call, which the host stores with a failed run.
    ///   - line: its line.
    public func setTaskCompleted(success: Bool, fileID: String = #fileID, line: Int = #line) {
        complete(success, SourcePlace(fileID: fileID, line: line))
    }

    /// The same without a place, for code that uses the method as a value.
    @_disfavoredOverload public func setTaskCompleted(success: Bool) { complete(success, nil) }

    private func complete(_ success: Bool, _ place: SourcePlace?) {
        let waiter = locked { state -> CheckedContinuation<Bool, Never>? in
            guard state.success == nil else { return nil }
            state.success = success
            state.place = place
            state.expiration = nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: success)
    }

    /// Waits until the run is completed.
    var completion: Bool {
        get async {
            await withCheckedContinuation { continuation in
                let success = locked { state in
                    if state.success == nil { state.waiter = continuation }
                    return state.success
                }
                if let success { continuation.resume(returning: success) }
            }
        }
    }

    /// The error of a run that reported a failure.
    var failure: TaskUnsuccessful { TaskUnsuccessful(place: locked { $0.place }) }

    /// Calls the expiration handler.
    func expire() {
        let handler = locked { state in
            state.hasExpired = true
            defer { state.expiration = nil }
            return state.expiration
        }
        handler?()
    }

    /// The closure is the plugin's and not Sendable: it is set and removed as a whole, under the
    /// lock.
    private func locked<Answer>(_ body: (inout State) -> Answer) -> Answer {
        state.withLock { state in
            nonisolated(unsafe) let answer = body(&state)
            return answer
        }
    }
}

/// A run of a processing task.
public class BGProcessingTask: BGTask, @unchecked Sendable {}

/// A run of a refresh task.
///
/// Here it is also a processing task, and one of continued processing: the manifest determines the kind,
/// and a launch handler may cast its task to any of the types.
public final class BGAppRefreshTask: BGContinuedProcessingTask, @unchecked Sendable {}

/// The error of a launch handler that reported a failure.
struct TaskUnsuccessful: LocatedError, CustomStringConvertible {
    let place: SourcePlace?
    var description: String { "setTaskCompleted(success: false)" }
}
