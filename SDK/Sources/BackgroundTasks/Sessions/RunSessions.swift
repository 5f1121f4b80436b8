// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization

/// A run's state for sessions: its wake, and pending calls of delegates.
final class RunSessions: Sendable {
    private struct State {
        /// Pending and running calls of delegates.
        var open = 0
        var waiter: CheckedContinuation<Void, Never>?
        /// Closures to call when the run is cancelled.
        var stops: [@Sendable () -> Void] = []
        /// The kept ends of sessions that the run is no wake of.
        var others: [String: SessionEnds] = [:]
    }

    /// The transfers that the run is told of; `nil` if it is no wake.
    let wake: SessionEnds?
    private let state = Mutex(State())

    init(wake: SessionEnds?) { self.wake = wake }

    /// The ends of a session that the run may take.
    func ends(of session: String) -> SessionEnds {
        if let wake, wake.session == session { return wake }
        return state.withLock { state in
            if let ends = state.others[session] { return ends }
            let ends = SessionEnds(session)
            state.others[session] = ends
            return ends
        }
    }

    /// Those of all sessions that the run has asked about.
    var all: [SessionEnds] {
        let others = state.withLock { Array($0.others.values) }
        return (wake.map { [$0] } ?? []) + others
    }

    func enter() { state.withLock { $0.open += 1 } }

    func leave() {
        let waiter = state.withLock { state in
            state.open -= 1
            guard state.open == 0 else { return nil as CheckedContinuation<Void, Never>? }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Calls a closure once when the run is cancelled; at once if it already was.
    func onStop(_ context: TaskContext, _ body: @escaping @Sendable () -> Void) {
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

    /// Tells delegates of sessions that were there before the run of what has ended, or was kept.
    ///
    /// A worker lives from run to run, and with it what the plugin keeps in globals.
    func beginSessions() {
        for session in LiveSessions.takeUnasked(of: host)
        where session.settings.identifier != wakeSession {
            session.deliver(in: self)
        }
        guard isWake, let wake = sessions.wake else { return }
        LiveSessions.session(wake.session, of: host)?.deliver(in: self)
    }

    /// Waits until delegates have been told all, and tells the host what was taken and what was not.
    func endSessions() async {
        guard let sessions = usedSessions else { return }
        await sessions.drain()
        for ends in sessions.all { ends.settle(of: self) }
    }
}

/// The background sessions of this process that have a delegate.
enum LiveSessions {
    private struct Held {
        weak var session: URLSession?
    }

    /// Plugins that share a process and this module may have sessions with the same identifier.
    private struct Name: Hashable {
        let host: UInt
        let identifier: String
    }

    private static let all = Mutex<[Name: Held]>([:])
    /// Those that were made outside of runs: the next run asks for what is kept for them.
    private static let unasked = Mutex<Set<Name>>([])

    private static func name(_ identifier: String, _ host: Host?) -> Name {
        Name(host: UInt(bitPattern: host?.pointer), identifier: identifier)
    }

    /// The session with this identifier that was created last: on this host, or on a host that was
    /// closed and whose session remains in a global of the plugin.
    static func session(_ identifier: String, of host: Host?) -> URLSession? {
        let name = name(identifier, host)
        let open = Host.open.withLock { $0 }
        return all.withLock { all in
            if let session = all[name]?.session { return session }
            return all.first { other, held in
                other.identifier == identifier && !open.contains(other.host) && held.session != nil
            }?.value.session
        }
    }

    /// - Parameter isInRun: whether a run makes it, which then asks for what is kept for it.
    static func add(
        _ session: URLSession,
        _ identifier: String,
        of host: Host?,
        isInRun: Bool
    ) {
        let name = name(identifier, host)
        if !isInRun { _ = unasked.withLock { $0.insert(name) } }
        all.withLock { all in
            all = all.filter { $0.value.session != nil }
            all[name] = Held(session: session)
        }
    }

    /// The sessions of a host, or of none that is open, that were made outside of runs since the last
    /// time.
    ///
    /// What a plugin makes as it is launched is made before there is a host.
    static func takeUnasked(of host: Host) -> [URLSession] {
        let address = UInt(bitPattern: host.pointer)
        let names = unasked.withLock { unasked -> [Name] in
            guard !unasked.isEmpty else { return [] }
            let open = Host.open.withLock { $0 }
            let names = unasked.filter { $0.host == address || !open.contains($0.host) }
            unasked.subtract(names)
            return names.sorted { $0.identifier < $1.identifier }
        }
        guard !names.isEmpty else { return [] }
        return all.withLock { all in names.compactMap { all[$0]?.session } }
    }

    static func remove(_ session: URLSession, _ identifier: String, of host: Host?) {
        let name = name(identifier, host)
        all.withLock { all in
            if all[name]?.session === session { all[name] = nil }
        }
    }
}
