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
        /// The same of those whose end nobody is to be told of.
        var quiet: Set<RunID> = []

        var isEmpty: Bool {
            open.isEmpty && byKey.isEmpty && ended.isEmpty && quiet.isEmpty
        }
    }

    private var sessions: [SessionKey: Session] = [:]

    package init() {}

    /// The transfer under way that asks for the same.
    package func existing(_ key: String, in session: SessionKey) -> RunID? {
        sessions[session]?.byKey[key]
    }

    /// A transfer begins, or is taken over from before.
    ///
    /// - Parameter isQuiet: whether its session goes on without it, and is not told of its end.
    package mutating func begin(
        _ id: RunID,
        key: String,
        in session: SessionKey,
        isQuiet: Bool = false
    ) {
        if !isQuiet { sessions[session, default: Session()].open.insert(id) }
        sessions[session, default: Session()].byKey[key] = id
    }

    /// A transfer has ended.
    ///
    /// - Parameters:
    ///   - isTaken: whether somebody waited for it, who is told, so that its session is not.
    ///   - isQuiet: as it was at its beginning.
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

    /// A transfer that had ended before is taken over.
    package mutating func recover(ended id: RunID, in session: SessionKey, isQuiet: Bool = false) {
        if isQuiet {
            sessions[session, default: Session()].quiet.insert(id)
        } else {
            sessions[session, default: Session()].ended.insert(id)
        }
    }

    /// Ended transfers have been dealt with.
    ///
    /// - Returns: those of them that were there.
    package mutating func acknowledge(_ ids: [RunID], in session: SessionKey) -> [RunID] {
        change(session) { entry in
            ids.filter { id in
                let isTold = entry.ended.remove(id) != nil
                return entry.quiet.remove(id) != nil || isTold
            }
        } ?? []
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

    /// Changes a session in its place: to copy one of thousands of transfers for each of their ends
    /// would take a time that grows with their square.
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
