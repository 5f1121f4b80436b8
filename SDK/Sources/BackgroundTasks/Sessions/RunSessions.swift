// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A run's state for sessions: its wake, and pending calls of delegates.
package final class RunSessions: Sendable {
    private struct State {
        /// Pending and running calls of delegates.
        var open = 0
        var waiter: CheckedContinuation<Void, Never>?
        /// Closures to call when the run is cancelled.
        var stops: [@Sendable () -> Void] = []
        /// The kept ends of sessions whose wake the run is not.
        var others: [String: SessionEnds] = [:]
        /// Deliveries that wait for `release()`; `nil` while deliveries happen at once.
        var held: [@Sendable () -> Void]?
    }

    /// The ended transfers in the parameters of a wake; `nil` if the run is no wake.
    package let wake: SessionEnds?
    private let state = Mutex(State())

    init(wake: SessionEnds?) { self.wake = wake }

    /// The ends of a session that the run can deliver.
    package func ends(of session: String) -> SessionEnds {
        if let wake, wake.session == session { return wake }
        return state.withLock { state in
            if let ends = state.others[session] { return ends }
            let ends = SessionEnds(session)
            state.others[session] = ends
            return ends
        }
    }

    /// The ends of all sessions that the run has asked about.
    var all: [SessionEnds] {
        let others = state.withLock { Array($0.others.values) }
        return (wake.map { [$0] } ?? []) + others
    }

    /// Makes further deliveries wait for `release()`.
    func hold() { state.withLock { $0.held = [] } }

    /// Performs the deliveries that wait, and from now on all others at once; further calls do nothing.
    package func release() {
        let held = state.withLock { state in
            defer { state.held = nil }
            return state.held ?? []
        }
        for delivery in held { delivery() }
    }

    /// Performs a delivery, at once unless deliveries wait.
    package func deliver(_ delivery: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            state.held?.append(delivery)
            return state.held != nil
        }
        if !waits { delivery() }
    }

    package func enter() { state.withLock { $0.open += 1 } }

    package func leave() {
        let waiter = state.withLock { state in
            state.open -= 1
            guard state.open == 0 else { return nil as CheckedContinuation<Void, Never>? }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Calls a closure once when the run is cancelled.
    ///
    /// - Returns: `false` if it already was; then the closure is not called.
    package func onStop(_ context: TaskContext, _ body: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            // `stop()` follows the reason, and takes what was added before it.
            guard context.stopReason == nil else { return false }
            state.stops.append(body)
            return true
        }
    }

    func stop() {
        let stops = state.withLock { state in
            defer { state.stops = [] }
            return state.stops
        }
        for body in stops { body() }
    }

    /// Waits until all calls of delegates have ended; the end of the run would lose them.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.open > 0 { state.waiter = continuation }
                return state.open == 0
            }
            if isIdle { continuation.resume() }
        }
    }
}

extension TaskContext {
    /// The session whose transfers have ended, if the run is a wake.
    public var wakeSession: String? { isWake ? sessions.wake?.session : nil }

    /// Prepares sessions as the run starts.
    ///
    /// - Parameter holdsDeliveries: whether the deliveries of a wake wait until the handler releases
    ///   them.
    func beginSessions(holdsDeliveries: Bool) {
        // The host needs an answer for each end in the parameters, also if there is no session.
        if isWake { _ = sessions }
        if isWake, holdsDeliveries { sessions.hold() }
        RunStarts.perform(in: self)
    }

    /// Waits for all calls of delegates, then reports delivered and undelivered ends to the host.
    func endSessions() async {
        guard let sessions = usedSessions else { return }
        // A handler that has not released them, such as after an error, loses none.
        sessions.release()
        await sessions.drain()
        for ends in sessions.all { ends.settle(of: self) }
    }
}
