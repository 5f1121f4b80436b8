// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A wait for an operation of the host that ends with a callback, such as a fetch.
///
/// The host may call back before it has returned the operation's number, and the task may be
/// cancelled before that too. The lock orders these events; the thread that removes the
/// continuation resumes it.
final class HostWait<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var number: UInt64?
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let cancel: @Sendable (UInt64) -> Void

    /// - Parameter cancel: asks the host to cancel the operation with this number. `finish` is
    ///   still called at the end; a number that is already stale is harmless.
    init(cancel: @escaping @Sendable (UInt64) -> Void) { self.cancel = cancel }

    /// Starts the operation and waits for its end.
    ///
    /// - Parameter begin: returns the host's number; if it throws, the wait ends with its error.
    func value(_ begin: () throws -> UInt64) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.continuation = continuation }
                do {
                    let number = try begin()
                    let isCancelled = state.withLock { state in
                        state.number = number
                        return state.isCancelled
                    }
                    // The task was cancelled before the number was known.
                    if isCancelled { cancel(number) }
                } catch {
                    finish(.failure(error))
                }
            }
        } onCancel: {
            let number = state.withLock { state in
                state.isCancelled = true
                return state.number
            }
            if let number { cancel(number) }
        }
    }

    /// Ends the wait; only the first call counts.
    func finish(_ result: sending Result<Value, any Error>) {
        let continuation = state.withLock { state in
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: result)
    }
}
