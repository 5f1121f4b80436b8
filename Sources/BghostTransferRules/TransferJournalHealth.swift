// SPDX-License-Identifier: Apache-2.0

/// Whether a journal of transfers stores its changes.
package struct TransferJournalHealth: Equatable, Sendable {
    /// Since when changes cannot be stored, and why.
    package struct Failure: Equatable, Sendable {
        /// Unix nanoseconds, from the machine's clock.
        package var since: Int64
        package var error: TransferJournalError
        /// Whether only a restart can help: the content of the disk is unknown, so nothing is retried.
        package var isFinal: Bool

        package init(since: Int64, error: TransferJournalError, isFinal: Bool) {
            self.since = since
            self.error = error
            self.isFinal = isFinal
        }
    }

    /// `nil` as long as changes are stored.
    package var failure: Failure?
    /// The number of transfers whose last state waits to be stored.
    package var waiting: Int

    package init(failure: Failure? = nil, waiting: Int = 0) {
        self.failure = failure
        self.waiting = waiting
    }
}
