// SPDX-License-Identifier: Apache-2.0

/// The name of a session: each plugin has its own.
package struct SessionKey: Hashable, Sendable {
    package var plugin: String
    package var session: String

    package init(plugin: String, session: String) {
        self.plugin = plugin
        self.session = session
    }
}

/// Which transfers belong together: what is asked for twice, and what ends when all have ended.
package struct SessionBook: Equatable, Sendable {
    private struct Session: Equatable, Sendable {
        /// Transfers under way.
        var open: Set<RunID> = []
        /// Under way, by what makes two requests the same.
        var byKey: [String: RunID] = [:]
        /// Ended, and not yet dealt with.
        var ended: Set<RunID> = []
    }

    private var sessions: [SessionKey: Session] = [:]

    package init() {}

    /// The transfer under way that asks for the same.
    package func existing(_ key: String, in session: SessionKey) -> RunID? {
        sessions[session]?.byKey[key]
    }

    /// A transfer begins, or is taken over from before.
    package mutating func begin(_ id: RunID, key: String, in session: SessionKey) {
        sessions[session, default: Session()].open.insert(id)
        sessions[session, default: Session()].byKey[key] = id
    }

    /// A transfer has ended.
    ///
    /// - Parameter isTaken: whether somebody waited for it, who is told, so that its session is not.
    package mutating func end(_ id: RunID, key: String, in session: SessionKey, isTaken: Bool) {
        guard var entry = sessions[session] else { return }
        entry.open.remove(id)
        if entry.byKey[key] == id { entry.byKey[key] = nil }
        if !isTaken { entry.ended.insert(id) }
        store(entry, session)
    }

    /// A transfer that had ended before is taken over.
    package mutating func recover(ended id: RunID, in session: SessionKey) {
        sessions[session, default: Session()].ended.insert(id)
    }

    /// Ended transfers have been dealt with.
    ///
    /// - Returns: those of them that were there.
    package mutating func acknowledge(_ ids: [RunID], in session: SessionKey) -> [RunID] {
        guard var entry = sessions[session] else { return [] }
        let known = ids.filter { entry.ended.remove($0) != nil }
        store(entry, session)
        return known
    }

    /// The transfers of a session of which nothing is under way, the oldest first; `nil` if there is
    /// nothing to tell.
    ///
    /// The first of them names the event: it stays in it until it is dealt with, so that whoever is
    /// told twice can tell.
    package func complete(_ session: SessionKey) -> [RunID]? {
        guard let entry = sessions[session], entry.open.isEmpty, !entry.ended.isEmpty else {
            return nil
        }
        return entry.ended.sorted()
    }

    /// All sessions that have transfers.
    package var keys: [SessionKey] { Array(sessions.keys) }

    private mutating func store(_ entry: Session, _ key: SessionKey) {
        sessions[key] = entry.open.isEmpty && entry.ended.isEmpty ? nil : entry
    }
}
