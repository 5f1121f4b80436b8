// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFleetRules
import BghostModel
import BghostPolicy
import BghostTestSupport

/// A host of a simulated fleet: its lease, its batches, and a scheduler for each partition.
///
/// It is the real code but for the connection and the handlers. All its runs are exclusive.
struct SimulatedHost {
    struct Run {
        let request: RunID
        var record: RunRecord
    }

    /// A partition that this host owns.
    struct Owned {
        var scheduler: Scheduler
        var runs: [RunHandle: Run] = [:]
        /// Submissions that the store has not kept yet.
        var storing: [(transaction: UInt64, AcceptedSubmission)] = []
    }

    enum Phase {
        case up, leaving, down
    }

    let index: Int
    let slots: Int
    /// How far its wall clock is ahead of the true time, nanoseconds.
    var skew: Int64 = 0
    /// The number of its process.
    var process = 0
    var phase = Phase.up
    /// Until when its process is stopped.
    var stoppedUntil: Int64 = 0
    var lease = HostLease(length: FleetWorld.lease)
    var reap = ReapRule(lease: FleetWorld.lease)
    var queue = BatchQueue()
    var session: HostSession?
    /// The last registration under its name, as far as it knows.
    var incarnation: Int?
    var owned: [PartitionID: Owned] = [:]
    /// Granted partitions that are not read yet.
    var toRead: [PartitionGrant] = []
    var shares: [UInt8: Int] = [:]
    var call: (label: CallLabel, sentAt: MonotonicInstant, call: StoreCall)?
    var calls = 0
    /// Whether the connection has to be resumed, because a call was not answered.
    var isBroken = false
    var renews = false
    var nextClaim: MonotonicInstant = .zero
    var nextRegistration: MonotonicInstant = .zero
    /// The next event that wakes it.
    var wakeAt: Int64?

    var name: String { "host-\(index)" }

    init(index: Int, slots: Int) {
        self.index = index
        self.slots = slots
    }

    /// Forgets all, as the death of the process does.
    mutating func restart() {
        var fresh = SimulatedHost(index: index, slots: slots)
        fresh.skew = skew
        fresh.process = process + 1
        fresh.calls = calls
        self = fresh
    }

    /// Gives up all partitions: the store has refused this host.
    mutating func standDown() {
        owned = [:]
        toRead = []
        queue = BatchQueue()
        session = nil
        incarnation = nil
        call = nil
        isBroken = false
        renews = false
        reap.refused()
    }

    /// Whether a partition can be given back at once.
    func isIdle(_ partition: PartitionID) -> Bool {
        guard let owned = owned[partition] else { return false }
        return owned.runs.isEmpty && owned.storing.isEmpty && !queue.concerns(partition)
    }

    /// The next call, if none is under way.
    mutating func nextCall(now: MonotonicInstant) -> StoreCall? {
        guard call == nil else { return nil }
        guard let session else {
            guard phase == .up, now >= nextRegistration else { return nil }
            guard let last = incarnation else { return .look(name: name) }
            incarnation = nil
            nextRegistration = now + FleetWorld.lease / 10
            let terms = HostTerms(name: name, lease: FleetWorld.lease, slots: slots)
            return .register(terms, after: last)
        }
        if isBroken { return .resume(session) }
        if queue.isReady || renews, let batch = queue.next() {
            renews = false
            return .batch(batch, session)
        }
        if let grant = toRead.first { return .read(grant) }
        let back = partitionsToGiveBack()
        if !back.isEmpty {
            // From here on another host may own them, whatever the answer is.
            for partition in back { owned[partition] = nil }
            return .release(back, session)
        }
        if phase == .leaving { return owned.isEmpty ? .leave(session) : nil }
        guard now >= nextClaim else { return nil }
        nextClaim = now + FleetWorld.lease / 5
        return .claim(
            holding: owned.keys.sorted(),
            mayReap: reap.mayReap(now: now),
            session
        )
    }

    private func partitionsToGiveBack() -> [PartitionID] {
        let idle = Set(owned.keys.filter(isIdle))
        if phase == .leaving { return idle.sorted() }
        guard let share = shares[0] else { return [] }
        return PartitionShare.surplus(
            owned: Array(owned.keys),
            idle: idle,
            share: share,
            most: 2
        )
    }
}
