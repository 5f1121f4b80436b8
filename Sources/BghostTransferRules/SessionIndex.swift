// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The name of a session: each plugin has its own.
package struct SessionKey: Hashable, Sendable {
    package var plugin: String
    package var session: String

    package init(plugin: String, session: String) {
        self.plugin = plugin
        self.session = session
    }
}

/// The transfers of all sessions: finds duplicate requests, and reports a session when all its transfers have
/// ended.
package struct SessionIndex: Equatable, Sendable {
    private struct Session: Equatable, Sendable {
        /// Transfers that have not ended.
        var open: Set<RunID> = []
        /// The transfers that have not ended, by the key that duplicate requests share.
        var byKey: [String: RunID] = [:]
        /// Transfers that have ended and were not acknowledged.
        var ended: Set<RunID> = []
        /// Those of them that were not reported.
        var unreported: Set<RunID> = []
        /// Ended transfers that are not acknowledged and that no wake reports.
        var quiet: Set<RunID> = []

        var isEmpty: Bool {
            open.isEmpty && byKey.isEmpty && ended.isEmpty && quiet.isEmpty
        }
    }

    private var sessions: [SessionKey: Session] = [:]

    package init() {}

    /// The transfer in progress with this key.
    package func existing(_ key: String, in session: SessionKey) -> RunID? {
        sessions[session]?.byKey[key]
    }

    /// Adds a new transfer, or one that an earlier daemon has started.
    ///
    /// - Parameter isQuiet: whether its session does not wait for it, and is not notified of its end.
    package mutating func begin(
        _ id: RunID,
        key: String,
        in session: SessionKey,
        isQuiet: Bool = false
    ) {
        if !isQuiet { sessions[session, default: Session()].open.insert(id) }
        sessions[session, default: Session()].byKey[key] = id
    }

    /// Records that a transfer has ended.
    ///
    /// - Parameters:
    ///   - isTaken: whether a caller waited for the end and receives it, so that the session is not notified.
    ///   - isQuiet: the same value as in `begin`.
    package mutating func end(
        _ id: RunID,
        key: String,
        in session: SessionKey,
        isTaken: Bool,
        isQuiet: Bool = false
    ) {
        let isKnown: Void? = change(session) { entry in
            entry.open.remove(id)
            if entry.byKey[key] == id { entry.byKey[key] = nil }
        }
        guard isKnown != nil else { return }
        if !isTaken { recover(ended: id, in: session, isQuiet: isQuiet) }
    }

    /// Adds a transfer that ended earlier and was not acknowledged.
    package mutating func recover(ended id: RunID, in session: SessionKey, isQuiet: Bool = false) {
        if isQuiet {
            sessions[session, default: Session()].quiet.insert(id)
        } else {
            sessions[session, default: Session()].ended.insert(id)
            sessions[session]?.unreported.insert(id)
        }
    }

    /// Removes ended transfers that were acknowledged.
    ///
    /// - Returns: those of them that were in the session.
    package mutating func acknowledge(_ ids: [RunID], in session: SessionKey) -> [RunID] {
        change(session) { entry in
            ids.filter { id in
                let isTold = entry.ended.remove(id) != nil
                entry.unreported.remove(id)
                return entry.quiet.remove(id) != nil || isTold
            }
        } ?? []
    }

    /// The ended transfers of a session that no wake reports, the oldest first.
    package func quiet(in session: SessionKey) -> [RunID] {
        sessions[session]?.quiet.sorted() ?? []
    }

    /// The ended transfers of a session without transfers in progress that were not reported before, the oldest
    /// first; `nil` if there are none.
    ///
    /// Each is reported once, so that very many ends do not cost the square of their number. One that is recovered
    /// again is reported again.
    package mutating func report(_ session: SessionKey) -> [RunID]? {
        change(session) { entry -> [RunID]? in
            guard entry.open.isEmpty, !entry.unreported.isEmpty else { return nil }
            defer { entry.unreported = [] }
            return entry.unreported.sorted()
        } ?? nil
    }

    /// All sessions that have transfers.
    var keys: [SessionKey] { Array(sessions.keys) }

    /// Changes a session in place.
    ///
    /// Copying a session with thousands of transfers for each of their ends would take quadratic time.
    ///
    /// - Returns: `nil` if there is no such session.
    private mutating func change<Value>(
        _ key: SessionKey,
        _ body: (inout Session) -> Value
    ) -> Value? {
        guard let index = sessions.index(forKey: key) else { return nil }
        let value = body(&sessions.values[index])
        if sessions.values[index].isEmpty { sessions.remove(at: index) }
        return value
    }
}
