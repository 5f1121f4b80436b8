// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization

/// The ended transfers of a session that a run may take: those that it is told of, if it is the session's
/// wake, and those that the host has kept for the session.
///
/// An end is taken once a delegate has been told of it, or a request was answered with it.
package final class SessionEnds: Sendable {
    private struct Parameters: Decodable {
        var session: String
        var transfers: [TransferRecord]
        var more: Bool?
    }

    private struct State {
        /// What the wake tells of and nothing has taken.
        var rest: [TransferRecord] = []
        /// What the host has kept and nothing has taken.
        var kept: [TransferRecord] = []
        /// Those of the host's that this run has claimed.
        var claimed: Set<String> = []
        /// Those of them that were taken.
        var taken: [String] = []
        var hasAsked = false
    }

    package let session: String
    /// Those that the wake's parameters name: a run can say only of them that it does not take them.
    private let told: Set<String>
    private let state: Mutex<State>

    /// Of a session that the run is no wake of.
    init(_ session: String) {
        self.session = session
        told = []
        state = Mutex(State())
    }

    /// Reads what the host says in a wake; `nil` if it is not as agreed.
    init?(wake context: TaskContext) {
        let text = Data(context.givenParameters.utf8)
        guard let wake = try? JSONDecoder().decode(Parameters.self, from: text) else { return nil }
        session = wake.session
        told = Set(wake.transfers.map(\.id))
        var all = wake.transfers
        if wake.more == true, let transfers = Transfers(context.host) {
            let further = transfers.list(wake.session, after: all.last?.id)
            all += further.filter { $0.hasEnded && $0.kept != true }
        }
        state = Mutex(State(rest: all))
    }

    /// Claims what the host has kept for the session, once in a run.
    package func askForKept(of context: TaskContext) {
        let isFirst = state.withLock { state in
            defer { state.hasAsked = true }
            return !state.hasAsked
        }
        // Outside of the lock, as it waits for the host.
        guard isFirst, let wakes = Wakes(context.host) else { return }
        let kept = wakes.claim(session, of: context.run)
        state.withLock { state in
            state.kept += kept
            state.claimed.formUnion(kept.map(\.id))
        }
    }

    /// Takes the first that a request was for.
    package func claim(_ request: TransferRequest, key: String) -> TransferRecord? {
        state.withLock { state in
            let isIt = { (record: TransferRecord) in record.isFor(request, key: key) }
            if let index = state.kept.firstIndex(where: isIt) {
                let record = state.kept.remove(at: index)
                state.taken.append(record.id)
                return record
            }
            return state.rest.firstIndex(where: isIt).map { state.rest.remove(at: $0) }
        }
    }

    /// Takes all that nothing has taken, the oldest first.
    package func claimAll() -> [TransferRecord] {
        state.withLock { state in
            defer { (state.kept, state.rest) = ([], []) }
            state.taken += state.kept.map(\.id)
            return state.kept + state.rest
        }
    }

    /// Puts back one that nothing was told of after all.
    package func giveBack(_ record: TransferRecord) {
        state.withLock { state in
            guard state.claimed.contains(record.id) else { return state.rest.append(record) }
            state.taken.removeAll { $0 == record.id }
            state.kept.append(record)
        }
    }

    /// Tells the host, as the run ends, what of the kept was taken, and what of the told was not.
    func settle(of context: TaskContext) {
        let (rest, taken) = state.withLock { ($0.rest, $0.taken) }
        if !taken.isEmpty, let transfers = Transfers(context.host) {
            for id in taken { transfers.acknowledge(id) }
        }
        // The handler has seen them in the parameters, and has dealt with them in its own way.
        guard !rest.isEmpty, !context.readsParameters else { return }
        let ids = rest.map(\.id).filter(told.contains)
        let isKept = Wakes(context.host)?.keep(ids, of: context.run) ?? false
        for record in rest where told.contains(record.id) {
            let fate = isKept ? "; it is kept until the session is made" : ""
            let what = "\(record.url), \(record.state)"
            context.log(.info, "session \(session): nothing took \(what)\(fate)")
        }
    }
}
