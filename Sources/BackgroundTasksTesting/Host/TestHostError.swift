// SPDX-License-Identifier: Apache-2.0

/// Why a test host cannot do what a test wants.
public struct TestHostError: Error, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable {
        /// The plugin, or the manifest for it, is not valid.
        case invalidTasks
        /// A time is not one, or lies in the past.
        case invalidTime
        /// A run waits for something that is not the host's clock, longer than the host's patience.
        case stuck
        /// A run that was to begin at once did not.
        case notBegun
        /// Run after run begins without any time passing.
        case endless
        /// The fetch or transfer is over.
        case noSuchFetch
        /// No such notification was posted, or the plugin takes no answers.
        case noSuchNotification
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong, where, and what to do about it.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
