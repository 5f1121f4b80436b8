// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
internal import Synchronization

/// A verb under way that is audited.
///
/// The server sets it for the task that answers a request. Who commits the change of the verb adds the row
/// to its transaction, so that both are stored or neither. Any thread may use it.
package final class AuditScope: Sendable {
    /// That of the current task; `nil` outside of a verb.
    @TaskLocal package static var current: AuditScope?

    private struct State {
        var entry: AuditEntry
        var isStored = false
    }

    private let state: Mutex<State>
    /// Whether it is a submission, which is audited only if the manifest says so.
    package let isSubmission: Bool

    package init(_ entry: AuditEntry, isSubmission: Bool = false) {
        state = Mutex(State(entry: entry))
        self.isSubmission = isSubmission
    }

    package var entry: AuditEntry { state.withLock { $0.entry } }

    /// Whether a transaction has got its row.
    package var isStored: Bool { state.withLock { $0.isStored } }

    /// Says what the verb concerns, once that is known.
    package func concerns(_ target: String, digest: [UInt8]) {
        state.withLock { state in
            let old = state.entry
            state.entry = AuditEntry(
                at: old.at,
                old.actor,
                verb: old.verb,
                target: target,
                digest: digest,
                status: old.status
            )
        }
    }

    /// Says who acts, once that is known.
    package func acts(_ actor: AuditActor) { state.withLock { $0.entry.actor = actor } }

    /// The row for the transaction of a change.
    ///
    /// - Parameter refs: the ids of what is changed.
    package func stored(_ refs: [RunID]) -> AuditEntry {
        state.withLock { state in
            state.isStored = true
            return state.entry.with(.stored, refs: Self.text(refs))
        }
    }

    private static let refsMax = 8

    private static func text(_ refs: [RunID]) -> String {
        let rest = refs.count - refsMax
        return (refs.prefix(refsMax).map(\.description) + (rest > 0 ? ["+\(rest)"] : []))
            .joined(separator: " ")
    }
}

extension AuditEntry {
    /// The entry with another status.
    package func with(
        _ status: AuditStatus,
        code: String = "",
        refs: String = "",
        detail: String = ""
    ) -> AuditEntry {
        AuditEntry(
            at: at,
            actor,
            verb: verb,
            target: target,
            digest: digest,
            status: status,
            code: code,
            refs: refs,
            detail: detail
        )
    }
}

/// What a verb has changed, for its row; the owner that carries it out adds it.
package final class AuditDetail: Sendable {
    /// That of the current task; `nil` outside of a verb.
    @TaskLocal package static var current: AuditDetail?

    private let lines = Mutex<[String]>([])
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    package init() {}

    package func add(_ changes: [String]) { lines.withLock { $0 += changes } }

    /// Calls a function once the last row of the verb under way is stored, or the store fails or does not
    /// answer; at once outside of a verb.
    package static func whenNoted(_ body: @escaping @Sendable () -> Void) {
        guard let current else { return body() }
        current.waiting.withLock { $0.append(body) }
    }

    /// Calls what waits for the last row.
    func noted() {
        let waiting = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for body in waiting { body() }
    }

    /// A line for each change, as many as a row keeps.
    package var text: String {
        let lines = lines.withLock(\.self)
        var text = ""
        for (index, line) in lines.enumerated() {
            let next = (text.isEmpty ? "" : "\n") + PrintableText.escaped(line)
            // Room for the line about the rest.
            guard text.utf8.count + next.utf8.count < AuditEntry.detailBytesMax - 40 else {
                return text + "\n… and \(lines.count - index) more"
            }
            text += next
        }
        return text
    }
}
