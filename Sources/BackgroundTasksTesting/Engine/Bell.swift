// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Notifies one waiting task of events.
final class Bell: Sendable {
    private enum Ring { case rung, timedOut, cancelled }

    private struct State {
        var count: UInt64 = 0
        var waiter: CheckedContinuation<Ring, Never>?
        /// The number of the current wait, so that the timer of an earlier wait does not end it.
        var wait: UInt64 = 0
    }

    private let state = Mutex(State())

    /// How many events there were.
    var count: UInt64 { state.withLock { $0.count } }

    func ring() {
        let waiter = state.withLock { state in
            state.count += 1
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: .rung)
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
        let ring = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Ring? = state.withLock { state in
                    if Task.isCancelled { return .cancelled }
                    if state.count > count { return .rung }
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
        if ring == .cancelled { throw CancellationError() }
        return ring == .rung
    }

    private func end(_ wait: UInt64, _ ring: Ring) {
        let waiter = state.withLock { state -> CheckedContinuation<Ring, Never>? in
            guard state.wait == wait else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: ring)
    }
}

/// A lock that one task at a time holds, across suspensions.
final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func take() async {
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

    func give() {
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
