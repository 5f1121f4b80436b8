// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
package import BghostTransferRules
package import BghostTransfer

/// The host's state of transfers.
///
/// Use it only on the host's actor; the engine has its own executor.
package final class TransferTable {
    /// The ended transfers that a run received.
    package struct RunningWake {
        package let session: SessionKey
        package let transfers: [RunID]
        /// The transfers that the run does not take.
        package var unclaimed: Set<RunID> = []

        package init(session: SessionKey, transfers: [RunID]) {
            self.session = session
            self.transfers = transfers
        }
    }

    package let engine: TransferEngine
    package let journal: any TransferJournal
    package let bridge: TransferBridge
    /// The sessions by name.
    package let sessions: [String: SessionDefinition]
    /// Whether wakes may be created, which requires that pending requests are recovered.
    package var hasStarted = false
    /// The ended transfers of each session that no run has handled.
    package private(set) var ends: [SessionKey: EndedTransfers] = [:]
    package var limiters: [SessionKey: WakeLimiter] = [:]
    /// The transfers that running runs have begun.
    package var begun = BegunTransfers()
    /// The ended transfers that running runs received, by run number.
    package var runningWakes: [UInt64: RunningWake] = [:]
    /// The kept transfers that running runs have claimed, by run number.
    package var claimed: [UInt64: [RunID]] = [:]
    /// The running runs that received ended transfers and have created new ones.
    package var renewers: Set<UInt64> = []
    /// Transfers whose acknowledgement the engine has not processed.
    package var acknowledging: Set<RunID> = []
    /// Pending acknowledgements by number; the engine must process all of them before the shutdown.
    package var pendingMessages: [UInt64: Task<Void, Never>] = [:]
    package var lastMessage: UInt64 = 0
    /// The newest acknowledgement; `nil` if the engine has processed all of them.
    package var lastDelivery: Task<Void, Never>?
    private var ids = RunIDSource()

    package init(
        engine: TransferEngine,
        journal: any TransferJournal,
        bridge: TransferBridge,
        sessions: [SessionDefinition]
    ) {
        self.engine = engine
        self.journal = journal
        self.bridge = bridge
        self.sessions = Dictionary(sessions.map { ($0.name, $0) }) { first, _ in first }
    }

    package func nextID(unixNanoseconds: Int64) -> RunID {
        var random = SystemRandomNumberGenerator()
        return ids.next(unixMilliseconds: UInt64(max(0, unixNanoseconds)) / 1_000_000) {
            random.next()
        }
    }

    /// The session of a plugin by its name; `nil` if the manifest has none.
    package func session(_ name: String, of plugin: String) -> SessionDefinition? {
        guard let session = sessions[name], session.plugin == plugin else { return nil }
        return session
    }

    /// Removes transfers from the unhandled ends of a session.
    ///
    /// - Returns: whether any was removed.
    package func remove(_ transfers: [RunID], from key: SessionKey) -> Bool {
        // In place: a copy would have all ends of the session.
        guard let index = ends.index(forKey: key) else { return false }
        var hasRemoved = false
        for id in transfers where ends.values[index].remove(id) { hasRemoved = true }
        if ends.values[index].isEmpty { ends.remove(at: index) }
        return hasRemoved
    }

    /// Adds transfers of a session that have ended.
    package func add(_ transfers: [TransferRecord], to key: SessionKey) {
        for record in transfers { ends[key, default: EndedTransfers()].insert(record) }
    }
}
