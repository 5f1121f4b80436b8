// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Notifies one waiting task of events.
final class EventCounter: Sendable {
    private enum WakeReason { case signalled, timedOut, cancelled }

    private struct State {
        var count: UInt64 = 0
        var waiter: CheckedContinuation<WakeReason, Never>?
        /// The number of the current wait, so that the timer of an earlier wait does not end it.
        var wait: UInt64 = 0
    }

    private let state = Mutex(State())

    /// How many events there were.
    var count: UInt64 { state.withLock { $0.count } }

    func signal() {
        let waiter = state.withLock { state in
            state.count += 1
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: .signalled)
    }

    /// Waits for an event after the first `count` ones.
    ///
    /// - Parameter deadline: the timeout, in real time.
    /// - Returns: `false` if there was no event before the deadline.
    /// - Throws: `CancellationError` once the task is cancelled.
    func wait(after count: UInt64, until deadline: ContinuousClock.Instant) async throws -> Bool {
        let wait = state.withLock { state in
            state.wait += 1
            return state.wait
        }
        // The timer is a real-time limit; no event depends on it.
        let timer = Task {
            try await Task.sleep(until: deadline, clock: .continuous)
            end(wait, .timedOut)
        }
        defer { timer.cancel() }
        let reason = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: WakeReason? = state.withLock { state in
                    if Task.isCancelled { return .cancelled }
                    if state.count > count { return .signalled }
                    // The timer may already have fired.
                    if ContinuousClock.now >= deadline { return .timedOut }
                    state.waiter = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            end(wait, .cancelled)
        }
        if reason == .cancelled { throw CancellationError() }
        return reason == .signalled
    }

    private func end(_ wait: UInt64, _ reason: WakeReason) {
        let waiter = state.withLock { state -> CheckedContinuation<WakeReason, Never>? in
            guard state.wait == wait else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: reason)
    }
}

/// A lock that one task at a time holds, across suspensions.
final class AsyncLock: Sendable {
    private struct State {
        var isTaken = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func acquire() async {
        await withCheckedContinuation { continuation in
            let isMine = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiters.append(continuation)
                return false
            }
            if isMine { continuation.resume() }
        }
    }

    func release() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiters.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiters.removeFirst()
        }
        next?.resume()
    }
}
