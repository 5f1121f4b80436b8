// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A run, as a launch handler is given it.
///
/// Call `setTaskCompleted(success:)` as soon as the work is done: until then the run is under way, and
/// one that is not completed is killed when its time is over. Use it from any thread.
public class BGTask: @unchecked Sendable {
    // @unchecked: all that changes is under the lock; the handler of the end is called once.
    private struct State {
        var expiration: (() -> Void)?
        var hasExpired = false
        var success: Bool?
        var waiter: CheckedContinuation<Bool, Never>?
    }

    /// The identifier in `tasks.json` of the task that runs.
    public let identifier: String
    private let state = Mutex(State())

    init(identifier: String) { self.identifier = identifier }

    /// Called once when the run is asked to stop, on a thread of the host that it has for 100 ms; at
    /// once if that was before.
    public var expirationHandler: (() -> Void)? {
        get { locked { $0.expiration } }
        set {
            let isLate = locked { state in
                guard state.hasExpired, state.success == nil else {
                    state.expiration = newValue
                    return false
                }
                return true
            }
            if isLate { newValue?() }
        }
    }

    /// Ends the run; later calls do nothing.
    ///
    /// - Parameter success: `false` is a failure, which is tried again if the manifest says so, or
    ///   after the run was asked to stop, a cancellation.
    public func setTaskCompleted(success: Bool) {
        let waiter = locked { state -> CheckedContinuation<Bool, Never>? in
            guard state.success == nil else { return nil }
            state.success = success
            state.expiration = nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: success)
    }

    /// Waits until it is completed.
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

    /// Tells the handler that its time is over.
    func expire() {
        let handler = locked { state in
            state.hasExpired = true
            defer { state.expiration = nil }
            return state.expiration
        }
        handler?()
    }

    /// The closure is the plugin's and not Sendable: it goes in and out as a whole, under the lock.
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
/// Here it is a processing task too: the kind is the manifest's, and a launch handler may cast its
/// task to either.
public final class BGAppRefreshTask: BGProcessingTask, @unchecked Sendable {}

/// A launch handler that said that it did not succeed.
struct TaskUnsuccessful: Error, CustomStringConvertible {
    var description: String { "setTaskCompleted(success: false)" }
}
