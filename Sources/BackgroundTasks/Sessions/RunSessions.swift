// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization

/// What a run has to do with sessions: the wake that it is, and what delegates are being told.
final class RunSessions: Sendable {
    private struct State {
        /// Calls of delegates that are due or under way.
        var open = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// The transfers that the run is told of; `nil` if it is no wake.
    let wake: SessionWake?
    private let state = Mutex(State())

    init(wake: SessionWake?) { self.wake = wake }

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

    /// Waits until delegates have been told: a run that ends before would lose it.
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

/// The ended transfers of a session that a wake tells of.
final class SessionWake: Sendable {
    private struct Parameters: Decodable {
        var session: String
        var transfers: [TransferRecord]
        var more: Bool?
    }

    let session: String
    private let rest: Mutex<[TransferRecord]>

    /// Reads what the host says; `nil` if it is not as agreed.
    init?(_ context: TaskContext) {
        guard
            let told = try? JSONDecoder().decode(
                Parameters.self,
                from: Data(context.rawParameters.utf8)
            )
        else { return nil }
        session = told.session
        var all = told.transfers
        if told.more == true, let transfers = Transfers(context.host) {
            all += transfers.list(told.session, after: all.last?.id).filter(\.hasEnded)
        }
        rest = Mutex(all)
    }

    /// Takes the first that a request was for.
    func claim(_ request: TransferRequest, key: String) -> TransferRecord? {
        rest.withLock { rest in
            rest.firstIndex { $0.isFor(request, key: key) }.map { rest.remove(at: $0) }
        }
    }

    /// Takes all that nobody has taken.
    func claimAll() -> [TransferRecord] {
        rest.withLock { rest in
            defer { rest = [] }
            return rest
        }
    }
}

extension TaskContext {
    /// The session whose transfers have ended, if that is what the run is for.
    public var wakeSession: String? { isWake ? sessions.wake?.session : nil }

    /// Tells delegates of sessions that were there before the run of what has ended.
    ///
    /// A worker lives from run to run, and with it what the plugin keeps in globals.
    func beginWake() {
        guard isWake, let wake = sessions.wake else { return }
        LiveSessions.session(wake.session, of: host)?.deliver(wake.claimAll(), in: self)
    }

    /// Waits until delegates have been told all.
    func endSessions() async {
        guard let sessions = usedSessions else { return }
        await sessions.drain()
        guard let wake = sessions.wake else { return }
        for transfer in wake.claimAll() {
            log(.info, "session \(wake.session): nothing took \(transfer.url), \(transfer.state)")
        }
    }
}

/// The background sessions of this process that have a delegate.
enum LiveSessions {
    private struct Held {
        weak var session: URLSession?
    }

    /// Plugins that share a process, and this module, have sessions of the same name.
    private struct Name: Hashable {
        let host: UInt
        let identifier: String
    }

    private static let all = Mutex<[Name: Held]>([:])

    private static func name(_ identifier: String, _ host: Host?) -> Name {
        Name(host: UInt(bitPattern: host?.pointer), identifier: identifier)
    }

    /// The session that was made last with this identifier: on this host, or on one that is gone, which
    /// has left it in a global of the plugin's.
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

    static func add(_ session: URLSession, _ identifier: String, of host: Host?) {
        let name = name(identifier, host)
        all.withLock { all in
            all = all.filter { $0.value.session != nil }
            all[name] = Held(session: session)
        }
    }

    static func remove(_ session: URLSession, _ identifier: String, of host: Host?) {
        let name = name(identifier, host)
        all.withLock { all in
            if all[name]?.session === session { all[name] = nil }
        }
    }
}
