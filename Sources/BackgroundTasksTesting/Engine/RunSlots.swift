// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin

/// The slots of the plugin's runtime, each for one run at a time.
///
/// A run has its slot from its start until the plugin has released it. A killed run has its slot
/// until its handler ends, since the test's process cannot be killed.
struct RunSlots: Sendable {
    /// How many there are.
    let count: Int
    /// The engine's numbers of the runs that have a slot, by slot.
    private var runs: [Int: UInt64] = [:]

    /// - Parameter slots: the most runs at once.
    init(slots: Int) {
        // Those beyond the slots are for killed runs whose handlers continue. The runtime's memory
        // of a slot is never freed.
        count = min(slots + 24, 1 << Int(RunSlotNumber.bits))
    }

    var hasFree: Bool { runs.count < count }
    /// Whether no run has a slot.
    var isFree: Bool { runs.isEmpty }

    /// The runs that have a slot.
    var occupants: some Collection<UInt64> { runs.values }

    /// Gives the lowest free slot to a run; `nil` if there is none.
    mutating func take(for run: UInt64) -> Int? {
        let slot = (0..<count).first { runs[$0] == nil }
        if let slot { runs[slot] = run }
        return slot
    }

    /// Frees the slot of a run, if it has one.
    mutating func release(_ run: UInt64) {
        for (slot, occupant) in runs where occupant == run { runs[slot] = nil }
    }

    // MARK: Numbers of runs

    /// The runtime's number of a run: the engine's, with the slot in its lowest bits.
    static func id(of run: UInt64, in slot: Int) -> UInt64 {
        run << RunSlotNumber.bits | UInt64(slot)
    }

    /// The engine's number of a run; 0 for the plugin as a whole.
    static func run(of id: UInt64) -> UInt64 { id >> RunSlotNumber.bits }
}
