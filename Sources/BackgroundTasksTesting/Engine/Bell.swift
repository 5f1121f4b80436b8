// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Tells one waiter that something has happened.
final class Bell: Sendable {
    private enum Ring { case rung, timedOut, cancelled }

    private struct State {
        var count: UInt64 = 0
        var waiter: CheckedContinuation<Ring, Never>?
        /// Which wait it is, so that a timer of an earlier one does not end it.
        var wait: UInt64 = 0
    }

    private let state = Mutex(State())

    /// How often it has been rung.
    var count: UInt64 { state.withLock { $0.count } }

    func ring() {
        let waiter = state.withLock { state in
            state.count += 1
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: .rung)
    }

    /// Waits until it is rung more often than it was.
    ///
    /// - Parameter deadline: real time, after which it waits no longer.
    /// - Returns: `false` if it was not rung by then.
    /// - Throws: `CancellationError` once the task is cancelled.
    func wait(after count: UInt64, until deadline: ContinuousClock.Instant) async throws -> Bool {
        let wait = state.withLock { state in
            state.wait += 1
            return state.wait
        }
        // The bound in real time: nothing is awaited by it.
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
                    // The timer may have been first.
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

/// Lets one task after the other do something that must not overlap.
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
