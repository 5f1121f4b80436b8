// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// The audit of what others do to the daemon.
package protocol AuditControl: Sendable {
    /// Throws if a verb that changes something must be refused, because its row could not be stored.
    func requireAudit() async throws(OperatorRefusal)

    /// Stores a row of its own, and returns when it is stored.
    ///
    /// Throws if it cannot be stored and the manifest requires the audit.
    func note(_ entry: AuditEntry) async throws(OperatorRefusal)

    /// Stores a row about what has happened already; it is kept until the store has room.
    func noteLater(_ entry: AuditEntry) async

    /// Stores a row like `noteLater`, and returns when it is stored, or the store fails or does not answer.
    ///
    /// So a client that has the answer finds the row.
    func noteEnd(_ entry: AuditEntry) async

    /// Stores a row about a refused attempt or a login, unless there were too many or the store fails.
    ///
    /// Who may change nothing can make any number of them, and must not evict other rows.
    func noteBounded(_ entry: AuditEntry) async
}

/// What a client asks about the audit; its times are texts, which the daemon reads in its zone.
package struct AuditQuestion: Equatable, Sendable {
    /// Its `since` and `until` are not used.
    package var query: AuditQuery
    package var since: String?
    package var until: String?

    package init(_ query: AuditQuery, since: String? = nil, until: String? = nil) {
        self.query = query
        self.since = since
        self.until = until
    }
}

extension AuditControl {
    /// Does what stores nothing, with a row before and a row after it.
    ///
    /// Throws without doing it if the first row cannot be stored.
    ///
    /// - Parameters:
    ///   - entry: its status is not used.
    ///   - now: Unix nanoseconds.
    ///   - code: the code of an error.
    package func audited<Value>(
        _ entry: AuditEntry,
        now: () -> Int64,
        code: (any Error) -> String,
        _ body: () async throws -> Value
    ) async throws -> Value {
        var random = SystemRandomNumberGenerator()
        let number = "op:" + String(random.next(), radix: 16)
        try await note(entry.with(.begun, refs: number))
        let detail = AuditDetail()
        // A reader that follows the log asks for the row next.
        defer { detail.noted() }
        do {
            let value = try await AuditDetail.$current.withValue(detail) { try await body() }
            var end = entry.with(.done, refs: number, detail: detail.text)
            end.at = now()
            await noteEnd(end)
            return value
        } catch {
            var end = entry.with(.failed, code: code(error), refs: number)
            end.at = now()
            await noteEnd(end)
            throw error
        }
    }
}
