// SPDX-License-Identifier: Apache-2.0

/// What is remembered of an identifier beyond its requests and runs.
package struct TaskMemory: Equatable, Codable, Sendable {
    package var identifier: String
    /// The expiry debt, which delays its next starts.
    package var debt: ExpiryDebt
    /// The last time of its schedule that has been served, Unix nanoseconds.
    package var lastSlot: Int64?
    /// The times of its schedule that have been served, as far as they may come again.
    package var served: ServedSlots
    /// What its schedule was when `lastSlot` was written, so that an edit is seen.
    package var schedule: String
    /// Since when its schedule is this one, Unix nanoseconds.
    package var scheduledSince: Int64?
    /// Since when it has requests although the manifest does not permit it, Unix nanoseconds.
    package var parkedSince: Int64?
    /// When what it refreshes was used, if its task learns that.
    package var uses: UsePattern

    package init(
        identifier: String,
        debt: ExpiryDebt = ExpiryDebt(),
        lastSlot: Int64? = nil,
        served: ServedSlots = ServedSlots(),
        schedule: String = "",
        scheduledSince: Int64? = nil,
        parkedSince: Int64? = nil,
        uses: UsePattern = UsePattern()
    ) {
        self.identifier = identifier
        self.debt = debt
        self.lastSlot = lastSlot
        self.served = served
        self.schedule = schedule
        self.scheduledSince = scheduledSince
        self.parkedSince = parkedSince
        self.uses = uses
    }
}
