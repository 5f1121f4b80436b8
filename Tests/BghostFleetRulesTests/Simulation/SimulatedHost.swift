// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFleetRules
import BghostModel
import BghostPolicy
import BghostTestSupport

/// A host of a simulated fleet: its lease, its batches, and a scheduler for each partition.
///
/// It is the real code but for the connection and the handlers. All its runs are exclusive. It is a class, as are
/// its partitions: a copy of all their schedulers for each event is most of the time of a simulation.
final class SimulatedHost {
    struct Run {
        let request: RunID
        var record: RunRecord
    }

    /// A partition that this host owns.
    final class Owned {
        let partition: PartitionID
        var scheduler: Scheduler {
            didSet { nextDate = scheduler.nextDate ?? .max }
        }
        /// When the scheduler has something to do, Unix nanoseconds by the clock of the host.
        private(set) var nextDate = Int64.max
        var runs: [RunHandle: Run] = [:]
        /// Submissions that the store has not kept yet.
        var storing: [(transaction: UInt64, AcceptedSubmission)] = []

        init(_ partition: PartitionID, _ scheduler: Scheduler) {
            self.partition = partition
            self.scheduler = scheduler
        }
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
    var incarnation: FenceNumber?
    /// The partitions that it owns, in their order.
    private(set) var owned: [Owned] = []
    /// The same by their numbers.
    private var byNumber = [Owned?](repeating: nil, count: Int(FleetWorld.partitions))
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

    subscript(partition: PartitionID) -> Owned? {
        get { byNumber[Int(partition.number)] }
        set {
            byNumber[Int(partition.number)] = newValue
            owned = byNumber.compactMap { $0 }
        }
    }

    /// Its next process, which knows nothing of this one.
    func restarted() -> SimulatedHost {
        let fresh = SimulatedHost(index: index, slots: slots)
        fresh.skew = skew
        fresh.process = process + 1
        fresh.calls = calls
        return fresh
    }

    /// Gives up all partitions: the store has refused this host.
    func standDown() {
        for partition in owned.map(\.partition) { self[partition] = nil }
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
    private func isIdle(_ owned: Owned) -> Bool {
        owned.runs.isEmpty && owned.storing.isEmpty && !queue.concerns(owned.partition)
    }

    /// The next call, if none is under way.
    func nextCall(
        now: MonotonicInstant,
        using random: inout some RandomNumberGenerator
    ) -> StoreCall? {
        guard call == nil else { return nil }
        guard let session else {
            guard phase == .up, now >= nextRegistration else { return nil }
            guard let last = incarnation else { return .look(name: name) }
            incarnation = nil
            nextRegistration = now + FleetWorld.lease / 10
            let terms = HostTerms(name: name, lease: FleetWorld.lease, slots: slots)
            return .register(terms, after: last, FenceNonce(using: &random))
        }
        if isBroken { return connecting(&random) { .resume($0, $1) } }
        if queue.isReady || renews, let batch = queue.next() {
            renews = false
            return .batch(batch, session)
        }
        if let grant = toRead.first { return .read(grant) }
        let back = partitionsToGiveBack()
        if !back.isEmpty {
            // From here on another host may own them, whatever the answer is.
            for partition in back { self[partition] = nil }
            return .release(back, session)
        }
        if phase == .leaving { return owned.isEmpty ? .leave(session) : nil }
        guard now >= nextClaim else { return nil }
        nextClaim = now + FleetWorld.lease / 5
        let held = owned.map(\.partition)
        let mayReap = reap.mayReap(now: now)
        return connecting(&random) { .claim(holding: held, mayReap: mayReap, $1, $0) }
    }

    /// A call that may begin another connection.
    private func connecting(
        _ random: inout some RandomNumberGenerator,
        _ call: (HostSession, FenceNonce) -> StoreCall
    ) -> StoreCall? {
        guard var session else { return nil }
        let nonce = session.draw(using: &random)
        self.session = session
        return call(session, nonce)
    }

    private func partitionsToGiveBack() -> [PartitionID] {
        let share = shares[0] ?? .max
        guard phase == .leaving || owned.count > share else { return [] }
        let idle = Set(owned.filter(isIdle).map(\.partition))
        if phase == .leaving { return idle.sorted() }
        return PartitionShare.surplus(
            owned: owned.map(\.partition),
            idle: idle,
            share: share,
            most: 2
        )
    }
}
