// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization

/// The ended transfers of a session that a run can deliver: those in its parameters, if it is the
/// session's wake, and those that the host keeps for the session.
///
/// An end is delivered once a delegate has received it or a request was answered with it.
package final class SessionEnds: Sendable {
    private struct Parameters: Decodable {
        var session: String
        var transfers: [TransferRecord]
        var more: Bool?
    }

    private struct State {
        /// Ends in the parameters of the wake that are not delivered yet.
        var rest: [TransferRecord] = []
        /// Kept ends that are not delivered yet.
        var kept: [TransferRecord] = []
        /// The kept ends that this run has claimed.
        var claimed: Set<String> = []
        /// The claimed ends that were delivered.
        var taken: [String] = []
        var hasAsked = false
    }

    package let session: String
    /// The ids in the wake's parameters: a run can keep only these.
    private let told: Set<String>
    private let state: Mutex<State>

    /// Creates it for a session whose wake the run is not.
    init(_ session: String) {
        self.session = session
        told = []
        state = Mutex(State())
    }

    /// Reads the parameters of a wake; `nil` if they are malformed.
    init?(wake context: TaskContext) {
        let text = Data(context.givenParameters.utf8)
        // Other parameters are not of a wake.
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

    /// Claims the kept ends of the session, once in a run.
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

    /// Removes and returns the first end of a request.
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

    /// Removes and returns all undelivered ends, the oldest first.
    package func claimAll() -> [TransferRecord] {
        state.withLock { state in
            defer { (state.kept, state.rest) = ([], []) }
            state.taken += state.kept.map(\.id)
            return state.kept + state.rest
        }
    }

    /// Returns an end that could not be delivered.
    package func giveBack(_ record: TransferRecord) {
        state.withLock { state in
            guard state.claimed.contains(record.id) else { return state.rest.append(record) }
            state.taken.removeAll { $0 == record.id }
            state.kept.append(record)
        }
    }

    /// Acknowledges the delivered kept ends, and keeps the undelivered ends of the wake, as the run ends.
    func settle(of context: TaskContext) {
        let (rest, taken) = state.withLock { ($0.rest, $0.taken) }
        if !taken.isEmpty, let transfers = Transfers(context.host) {
            for id in taken { transfers.acknowledge(id) }
        }
        // A handler that has read the parameters processes the ends itself.
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
