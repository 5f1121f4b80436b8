// SPDX-License-Identifier: Apache-2.0

/// Why the host did not do what its operator asked for.
package struct OperatorRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Equatable, Sendable, CaseIterable {
        case noSuchPlugin
        /// The manifest permits no such identifier.
        case notPermitted
        /// No request of the kind that is wanted has an id that begins like this.
        case noSuchRequest
        /// Several have.
        case ambiguousRequest
        case nothingDead
        /// What was done is not stored: it lasts until the daemon ends.
        case storeFailed
        case backupFailed
        /// What is to be simulated is not understood.
        case badSimulation
        case noSuchNotification
        /// A notification cannot be answered like this.
        case badAction
        /// No transfer, or more than one, has an id that begins like this.
        case noSuchTransfer
        case transferOver
        /// Not now.
        case unavailable
        /// The manifest has errors, or one of its plugins cannot be loaded.
        case badManifest
        /// The manifest changes what only a restart can change.
        case needsRestart
    }

    package var code: Code
    /// What is wrong, one sentence without a full stop.
    package var message: String
    /// What to do about it; "" if the message says it.
    package var fix: String
    /// What may have been meant.
    package var candidates: [String]

    package init(_ code: Code, _ message: String, fix: String = "", candidates: [String] = []) {
        self.code = code
        self.message = message
        self.fix = fix
        self.candidates = candidates
    }

    package var description: String { fix.isEmpty ? message : "\(message); \(fix)" }
}
