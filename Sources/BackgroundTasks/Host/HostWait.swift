// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A wait for something that the host does for a run and calls back about, such as a fetch.
///
/// The host may call back before it has answered with a number, and the task may be cancelled before
/// that too; the lock decides, and whoever takes the continuation resumes it.
final class HostWait<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var number: UInt64?
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let cancel: @Sendable (UInt64) -> Void

    /// - Parameter cancel: asks the host to end what has this number. The end comes through `finish`
    ///   all the same; what is over is stale, and that is fine.
    init(cancel: @escaping @Sendable (UInt64) -> Void) { self.cancel = cancel }

    /// Begins, and waits for the end.
    ///
    /// - Parameter begin: answers with the host's number; what it throws ends the wait.
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
                    // Cancelled while the number was not known yet.
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

    /// Ends the wait; the first end counts.
    func finish(_ result: sending Result<Value, any Error>) {
        let continuation = state.withLock { state in
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: result)
    }
}
