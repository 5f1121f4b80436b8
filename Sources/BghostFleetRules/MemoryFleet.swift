// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// The fleet's store as a value in memory, for simulations and tests.
///
/// Its calls are not made for large fleets: finding a host by its name and a share are O(hosts), and a
/// registration, a claim, `leave` and each host that is declared dead cost O(partitions of the fleet) in
/// addition, a claim a sort of them. `resume` is O(nonces without an answer), at most 64; a batch is O(its
/// changes); `contents` sorts the rows of its partition.
///
/// `letters` is O(submissions that wait). The daemon does not use it.
package struct MemoryFleet: PartitionStore, Sendable {
    /// A host; it stays after its death, so that its name keeps its number.
    private struct Host: Sendable {
        var terms: HostTerms
        var incarnation = FenceNumber.none
        var connection = FenceNumber.none
        var lastBatch: Int64 = 0
        /// Whether it may change anything: registered, and not declared dead since.
        var isLive = false
        /// Unix nanoseconds, by the clock of the store.
        var leaseEnd: Int64 = 0
    }

    struct Ownership: Sendable {
        var owner: Int?
        var epoch: UInt32 = 0
    }

    /// A request in a partition; a leased one has its run.
    struct Row: Sendable {
        var request: Request
        var state: RowState
    }

    /// The clock of the store, Unix nanoseconds.
    package var clock: Int64
    /// The number of changes of members and owners.
    package private(set) var version: Int64 = 0
    /// The runs that ended, in the order in which the store has kept them.
    package private(set) var runs: [RunRecord] = []
    let partitions: UInt16
    private var hosts: [Host] = []
    private(set) var ownerships: [PartitionID: Ownership] = [:]
    private(set) var rows: [PartitionID: [RunID: Row]] = [:]
    private(set) var memories: [PartitionID: [String: TaskMemory]] = [:]
    /// Submissions in the order in which they were posted.
    var posted: [(number: Int64, letter: FleetLetter)] = []
    var lastPosted: Int64 = -1
    /// What hosts have moved from their own stores.
    var moved: Set<RunID> = []
    /// In the order in which operators asked for them.
    var cancelled: [FleetCancel] = []
    /// The one pending request of each task that is neither a retry nor a manual run.
    private var first: [String: RunID] = [:]
    /// Without it, late batches are kept: a test shows with it that its judge finds the damage.
    var isFenced = true
    /// The same for the comparison of rows.
    var comparesRows = true
    /// The same for the nonces: without them, a fence has only the counters of the store.
    var comparesNonces = true
    /// The same for the connection that a claim begins.
    var claimsConnect = true
    var keepsLettersOnce = true
    var movesOnce = true
    /// How many moves are kept without an answer.
    var unansweredMoves = 0
    /// Requests that count as written by a newer bghost; a test shows with them what a host then does.
    var unreadable: Set<RunID> = []
    /// The most requests and submissions in a part of an answer.
    var partLength = Int.max

    /// - Parameters:
    ///   - partitions: the partitions of each pool, 1 or more.
    ///   - pools: the number of pools.
    ///   - clock: Unix nanoseconds.
    package init(partitions: UInt16, pools: UInt8 = 1, clock: Int64) {
        self.partitions = max(1, partitions)
        self.clock = clock
        for pool in 0..<pools {
            for number in 0..<self.partitions {
                ownerships[PartitionID(pool: pool, number: number)] = Ownership()
            }
        }
    }

    /// The name of the host that owns a partition; `nil` if none does.
    package func owner(of partition: PartitionID) -> String? {
        ownerships[partition]?.owner.map { hosts[$0].terms.name }
    }

    // MARK: Hosts

    package func incarnation(of name: String) -> FenceNumber {
        hosts.first { $0.terms.name == name }?.incarnation ?? .none
    }

    package mutating func register(
        _ terms: HostTerms,
        after last: FenceNumber,
        nonce: FenceNonce
    ) throws(FleetRefusal) -> HostSession {
        guard isSame(incarnation(of: terms.name), last) else { throw .registeredMeanwhile }
        let number: Int
        if let known = hosts.firstIndex(where: { $0.terms.name == terms.name }) {
            number = known
            disown(known)
        } else {
            number = hosts.count
            hosts.append(Host(terms: terms))
        }
        hosts[number].terms = terms
        hosts[number].incarnation = hosts[number].incarnation.next(nonce)
        hosts[number].connection = FenceNumber.none.next(nonce)
        hosts[number].lastBatch = 0
        hosts[number].isLive = true
        renew(number)
        version += 1
        return session(number)
    }

    package mutating func resume(
        _ session: HostSession,
        nonce: FenceNonce
    ) throws(FleetRefusal) -> ResumedSession {
        guard let host = live(session), mayResume(hosts[host].connection, session) else {
            throw .fenced
        }
        hosts[host].connection = hosts[host].connection.next(nonce)
        renew(host)
        return ResumedSession(session: self.session(host), lastBatch: hosts[host].lastBatch)
    }

    package mutating func leave(_ session: HostSession) throws(FleetRefusal) {
        let host = try current(session)
        disown(host)
        hosts[host].isLive = false
        version += 1
    }

    private func session(_ host: Int) -> HostSession {
        HostSession(
            host: host,
            incarnation: hosts[host].incarnation,
            connection: hosts[host].connection
        )
    }

    /// The host of a registration that is in force, whatever the connection.
    private func live(_ session: HostSession) -> Int? {
        guard hosts.indices.contains(session.host), hosts[session.host].isLive,
            isSame(hosts[session.host].incarnation, session.incarnation)
        else { return nil }
        return session.host
    }

    private func current(_ session: HostSession) throws(FleetRefusal) -> Int {
        guard let host = live(session), isSame(hosts[host].connection, session.connection) else {
            throw .fenced
        }
        return host
    }

    private func mayResume(_ connection: FenceNumber, _ session: HostSession) -> Bool {
        !comparesNonces || connection == session.connection
            || session.unanswered.contains(connection.nonce)
    }

    private func isSame(_ left: FenceNumber, _ right: FenceNumber) -> Bool {
        comparesNonces ? left == right : left.count == right.count
    }

    private mutating func renew(_ host: Int) {
        hosts[host].leaseEnd = clock.addingClamped(Int64(clamping: hosts[host].terms.lease))
    }

    private mutating func disown(_ host: Int) {
        for partition in ownerships.keys where ownerships[partition]?.owner == host {
            ownerships[partition]?.owner = nil
        }
    }

    // MARK: Partitions

    package mutating func claim(
        holding held: [PartitionID],
        mayReap: Bool,
        nonce: FenceNonce,
        _ session: HostSession
    ) throws(FleetRefusal) -> ClaimAnswer {
        let host = try current(session)
        if mayReap { reap(but: host) }
        let held = Set(held)
        var answer = ClaimAnswer(session: session, grants: [], shares: [:])
        for pool in hosts[host].terms.pools.sorted() {
            let all = ownerships.keys.filter { $0.pool == pool }.sorted()
            let share = share(of: host, pool, all.count)
            answer.shares[pool] = share
            var owned = 0
            for partition in all where ownerships[partition]?.owner == host {
                owned += 1
                if !held.contains(partition) { answer.grants.append(grant(partition, to: host)) }
            }
            for partition in all where owned < share && ownerships[partition]?.owner == nil {
                owned += 1
                answer.grants.append(grant(partition, to: host))
            }
        }
        answer.grants.sort { $0.partition < $1.partition }
        if !answer.grants.isEmpty {
            version += 1
            if claimsConnect { hosts[host].connection = hosts[host].connection.next(nonce) }
        }
        answer.session = self.session(host)
        return answer
    }

    package mutating func offer(slots: Int, _ session: HostSession) throws(FleetRefusal) {
        hosts[try current(session)].terms.slots = slots
    }

    package mutating func release(
        _ partitions: [PartitionID],
        _ session: HostSession
    ) throws(FleetRefusal) {
        let host = try current(session)
        for partition in partitions where ownerships[partition]?.owner == host {
            ownerships[partition]?.owner = nil
        }
        version += 1
    }

    private mutating func grant(_ partition: PartitionID, to host: Int) -> PartitionGrant {
        let epoch = (ownerships[partition]?.epoch ?? 0) + 1
        ownerships[partition] = Ownership(owner: host, epoch: epoch)
        return PartitionGrant(partition, epoch: epoch)
    }

    private func share(of host: Int, _ pool: UInt8, _ partitions: Int) -> Int {
        let rivals = hosts.filter { $0.isLive && $0.terms.pools.contains(pool) }
        return PartitionShare.share(
            partitions: partitions,
            slots: hosts[host].terms.slots,
            among: rivals.map(\.terms.slots)
        )
    }

    private mutating func reap(but host: Int) {
        for other in hosts.indices
        where other != host && hosts[other].isLive && hosts[other].leaseEnd < clock {
            hosts[other].isLive = false
            disown(other)
            version += 1
        }
    }

    package func owners() -> [PartitionID: String] {
        ownerships.compactMapValues { ownership in ownership.owner.map { hosts[$0].terms.name } }
    }

    // MARK: Requests

    package mutating func commit(
        _ batch: FleetBatch,
        number: Int64,
        _ session: HostSession
    ) throws(FleetRefusal) -> Int64 {
        let host = isFenced ? try current(session) : session.host
        guard !isFenced || hosts[host].lastBatch.addingClamped(1) == number else { throw .fenced }
        try check(batch)
        hosts[host].lastBatch = number
        renew(host)
        apply(batch)
        return clock
    }

    /// Compares what the batch expects with the rows.
    private func check(_ batch: FleetBatch) throws(FleetRefusal) {
        var freed: Set<String> = []
        for change in batch.rows {
            guard ownerships[change.partition] != nil else { throw .unknownPartition }
            let row = rows[change.partition]?[change.id]
            if comparesRows {
                guard row?.state.mark ?? .absent == change.before else { throw .drift }
            }
            if let row, first[row.request.task] == change.id { freed.insert(row.request.task) }
        }
        guard comparesRows else { return }
        let waiting = Set(posted.map(\.letter.request.id))
        guard batch.taken.allSatisfy({ waiting.contains($0.id) }) else { throw .drift }
        var taken: Set<String> = []
        for case .pending(let request)? in batch.rows.map(\.after) where request.countsAsPending {
            let isFree = first[request.task] == nil || freed.contains(request.task)
            guard isFree, taken.insert(request.task).inserted else { throw .drift }
        }
    }

    private mutating func apply(_ batch: FleetBatch) {
        var requests: [RunID: Request] = [:]
        for change in batch.rows {
            guard let row = rows[change.partition]?.removeValue(forKey: change.id) else { continue }
            requests[change.id] = row.request
            if first[row.request.task] == change.id { first[row.request.task] = nil }
        }
        for change in batch.rows {
            guard let state = change.after else { continue }
            let request: Request?
            switch state {
            case .pending(let pending):
                request = pending
                if pending.countsAsPending { first[pending.task] = pending.id }
            case .leased(_, let leased): request = leased ?? requests[change.id]
            case .dead(let letter): request = letter.request
            }
            // Only without the fence the row of a begun request can be missing.
            guard let request else { continue }
            rows[change.partition, default: [:]][change.id] = Row(request: request, state: state)
        }
        if !batch.taken.isEmpty {
            let ids = Set(batch.taken.map(\.id))
            posted.removeAll { ids.contains($0.letter.request.id) }
        }
        runs += batch.ended
        for remembered in batch.memories {
            let memory = remembered.memory
            memories[remembered.partition, default: [:]][memory.identifier] =
                memory.isEmpty ? nil : memory
        }
    }
}
