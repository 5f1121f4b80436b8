// SPDX-License-Identifier: Apache-2.0

/// Whether the daemon's journal of transfers can store changes.
package struct TransferJournalStatus: Codable, Equatable, Sendable {
    /// Since when it cannot, Unix nanoseconds of the machine's clock; `nil` if it can.
    @FormOrNull<RFC3339> package var failingSince: Int64?
    /// Why not, and how to resolve it.
    @OrNull package var problem: String?
    /// Whether only a restart of the daemon can resolve it.
    @OrDefault package var isFinal: Bool
    /// The number of transfers whose last state is not on the disk yet.
    @OrDefault package var waiting: Int

    private enum CodingKeys: String, CodingKey {
        case failingSince, problem
        case isFinal = "final"
        case waiting
    }

    package init(
        failingSince: Int64? = nil,
        problem: String? = nil,
        isFinal: Bool = false,
        waiting: Int = 0
    ) {
        self.failingSince = failingSince
        self.problem = problem
        self.isFinal = isFinal
        self.waiting = waiting
    }

    /// One line for people about the failure; the caller escapes it.
    ///
    /// - Parameter moment: the time of the first failure.
    package func sentence(since moment: String) -> String {
        let noun = waiting == 1 ? "transfer" : "transfers"
        let count = waiting == 0 ? "" : ", the state of \(waiting) \(noun) not stored"
        return "the journal of transfers has been failing since \(moment)\(count), and"
            + " refuses new transfers that it cannot store: \(problem ?? "the reason is not known")"
    }
}
