// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The error for a refused command of an operator.
package struct OperatorRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Equatable, Sendable, CaseIterable {
        case noSuchPlugin
        case noSuchTask
        /// No task of the manifest has the tag.
        case noSuchTag
        /// The manifest permits no such identifier.
        case notPermitted
        /// No matching request has an id with this prefix.
        case noSuchRequest
        /// Several requests have an id with this prefix.
        case ambiguousRequest
        case nothingDead
        /// There are more or fewer than the caller expected, so nothing was done.
        case countChanged
        /// No request with a checkpoint has an id with this prefix.
        case noSuchCheckpoint
        /// There is no pause of this target.
        case notPaused
        /// The change could not be stored, so nothing was done.
        case storeFailed
        /// The change was made but is not stored: it lasts until the daemon ends.
        case notStored
        /// The change could not be audited, so nothing was done.
        case auditFailed
        case backupFailed
        /// The simulation's text is invalid.
        case badSimulation
        /// A time in the question is none.
        case badTime
        /// A cursor is not one of the list that was asked for.
        case badCursor
        /// A cursor is one of another daemon or manifest.
        case staleCursor
        case noSuchNotification
        /// Several plugins have a notification with this id.
        case ambiguousNotification
        /// The notification does not accept this answer.
        case badAction
        /// No transfer has an id with this prefix.
        case noSuchTransfer
        /// Several transfers have an id with this prefix.
        case ambiguousTransfer
        case transferOver
        /// The manifest names no receiver of alerts.
        case noReceiver
        /// This host is in no fleet.
        case noFleet
        /// No task of this host has requests that live in the fleet.
        case noFleetRequests
        /// The fleet has no host of this name.
        case noSuchHost
        /// The fleet's store does not answer, so it is unknown whether something was done.
        case fleetUnanswered
        /// The command is not possible at this time.
        case unavailable
        /// The manifest has errors, or one of its plugins cannot be loaded.
        case badManifest
        /// The manifest contains a change that requires a restart.
        case needsRestart
    }

    package var code: Code
    /// The problem, one sentence without a full stop.
    package var message: String
    /// How to resolve it; "" if the message says so.
    var fix: String
    /// Similar names or ids.
    package var candidates: [String]

    package init(_ code: Code, _ message: String, fix: String = "", candidates: [String] = []) {
        self.code = code
        self.message = message
        self.fix = fix
        self.candidates = candidates
    }

    package var description: String { fix.isEmpty ? message : "\(message); \(fix)" }
}

extension OperatorRefusal {
    /// The error for a change of many whose number is not what the caller was shown.
    ///
    /// - Parameter noun: what one of them is, in the singular.
    package static func countChanged(
        _ noun: String,
        expected: Int,
        found: Int,
        listing command: String
    ) -> OperatorRefusal {
        OperatorRefusal(
            .countChanged,
            "nothing was done: \(CountText.of(expected, noun)) \(expected == 1 ? "was" : "were")"
                + " expected, and there \(found == 1 ? "is" : "are") \(found)",
            fix: "look again with `\(command)`, then repeat it with that number"
        )
    }

    /// The error for a tag that no task has.
    ///
    /// - Parameter tags: the tags of the manifest.
    package static func noSuchTag(_ tag: String, among tags: Set<String>) -> OperatorRefusal {
        let nearest = Spelling.nearest(to: tag, among: tags.sorted())
        return OperatorRefusal(
            .noSuchTag,
            "no task has the tag `\(PrintableText.escaped(String(tag.prefix(200))))`",
            fix: nearest.map { "did you mean `\($0)`?" }
                ?? (tags.isEmpty
                    ? "the manifest has no `tags`"
                    : "`bghost status --json` lists the tags of each task"),
            candidates: nearest.map { [$0] } ?? []
        )
    }

    /// The error for a host that the fleet does not have.
    ///
    /// - Parameter hosts: the names of its hosts.
    package static func noSuchHost(_ host: String, among hosts: [String]) -> OperatorRefusal {
        let nearest = Spelling.nearest(to: host, among: hosts)
        return OperatorRefusal(
            .noSuchHost,
            "the fleet has no host `\(PrintableText.escaped(String(host.prefix(200))))`",
            fix: nearest.map { "did you mean `\($0)`?" } ?? "`bghost fleet hosts` lists them",
            candidates: nearest.map { [$0] } ?? []
        )
    }

    /// The error for an unknown task.
    ///
    /// - Parameter nearest: the most similar name of a task.
    package static func noSuchTask(_ task: String, nearest: String?) -> OperatorRefusal {
        OperatorRefusal(
            .noSuchTask,
            "there is no task `\(PrintableText.escaped(String(task.prefix(200))))`",
            fix: nearest.map { "did you mean `\($0)`?" } ?? "`bghost status` lists them",
            candidates: nearest.map { [$0] } ?? []
        )
    }
}
