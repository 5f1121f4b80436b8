// SPDX-License-Identifier: Apache-2.0

/// Why a test host cannot do what a test requests.
public struct TestHostError: Error, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable {
        /// The plugin or its manifest is invalid.
        case invalidTasks
        /// A time is invalid, or lies in the past.
        case invalidTime
        /// A run waits for something other than the host's clock, longer than the host's patience.
        case stuck
        /// A run that had to start at once did not start.
        case notBegun
        /// Runs start again and again without time advancing.
        case endless
        /// The fetch or transfer has ended.
        case noSuchFetch
        /// The plugin posted no such notification, or it has no handler for responses.
        case noSuchNotification
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong, where, and what to do.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
