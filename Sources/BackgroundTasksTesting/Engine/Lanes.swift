// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin

/// The lanes of the plugin's runtime, each for one run at a time.
///
/// A run has its lane from its start until the plugin has released it. A killed run has its lane
/// until its handler ends, since the test's process cannot be killed.
struct Lanes: Sendable {
    /// How many there are.
    let count: Int
    /// The engine's numbers of the runs that have a lane, by lane.
    private var runs: [Int: UInt64] = [:]

    /// - Parameter slots: the most runs at once.
    init(slots: Int) {
        // Those beyond the slots are for killed runs whose handlers continue. The runtime's memory
        // of a lane is never freed.
        count = min(slots + 24, 1 << Int(LaneNumber.bits))
    }

    var hasFree: Bool { runs.count < count }
    /// Whether no run has a lane.
    var isFree: Bool { runs.isEmpty }

    /// The runs that have a lane.
    var occupants: some Collection<UInt64> { runs.values }

    /// Gives the lowest free lane to a run; `nil` if there is none.
    mutating func take(for run: UInt64) -> Int? {
        let lane = (0..<count).first { runs[$0] == nil }
        if let lane { runs[lane] = run }
        return lane
    }

    /// Frees the lane of a run, if it has one.
    mutating func release(_ run: UInt64) {
        for (lane, occupant) in runs where occupant == run { runs[lane] = nil }
    }

    // MARK: Numbers of runs

    /// The runtime's number of a run: the engine's, with the lane in its lowest bits.
    static func id(of run: UInt64, in lane: Int) -> UInt64 {
        run << LaneNumber.bits | UInt64(lane)
    }

    /// The engine's number of a run; 0 for the plugin as a whole.
    static func run(of id: UInt64) -> UInt64 { id >> LaneNumber.bits }
}
