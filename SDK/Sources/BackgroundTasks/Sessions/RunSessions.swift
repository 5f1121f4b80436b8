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

    /// Calls a closure once when the run is cancelled; at once if it already was.
    package func onStop(_ context: TaskContext, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.stops.append(body) }
        if context.stopReason != nil { stop() }
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
    func beginSessions() {
        // The host needs an answer for each end in the parameters, also if there is no session.
        if isWake { _ = sessions }
        RunStarts.perform(in: self)
    }

    /// Waits for all calls of delegates, then reports delivered and undelivered ends to the host.
    func endSessions() async {
        guard let sessions = usedSessions else { return }
        await sessions.drain()
        for ends in sessions.all { ends.settle(of: self) }
    }
}
