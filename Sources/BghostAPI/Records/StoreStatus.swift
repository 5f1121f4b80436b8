// SPDX-License-Identifier: Apache-2.0

/// Whether the daemon's store can write changes.
package struct StoreStatus: Codable, Equatable, Sendable {
    /// Since when it cannot, Unix nanoseconds of the machine's clock; `nil` if it can.
    @FormOrNull<RFC3339> package var failingSince: Int64?
    /// Why not, and how to resolve it.
    @OrNull package var problem: String?
    /// Whether only a restart of the daemon can resolve it.
    @OrDefault package var isFinal: Bool
    /// The number of transactions that are not on the disk yet.
    @OrDefault var waiting: Int
    /// Whether no run starts because too many transactions wait.
    @OrDefault var holdsRuns: Bool

    private enum CodingKeys: String, CodingKey {
        case failingSince, problem
        case isFinal = "final"
        case waiting, holdsRuns
    }

    package init(
        failingSince: Int64? = nil,
        problem: String? = nil,
        isFinal: Bool = false,
        waiting: Int = 0,
        holdsRuns: Bool = false
    ) {
        self.failingSince = failingSince
        self.problem = problem
        self.isFinal = isFinal
        self.waiting = waiting
        self.holdsRuns = holdsRuns
    }

    /// One line for people about the failure; the caller escapes it.
    ///
    /// - Parameter moment: the time of the first failure.
    package func sentence(since moment: String) -> String {
        let held = holdsRuns ? ", so no new run starts" : ""
        let noun = waiting == 1 ? "transaction" : "transactions"
        return "the store has been failing since \(moment), \(waiting) \(noun) not stored\(held):"
            + " \(problem ?? "the reason is not known")"
    }
}
