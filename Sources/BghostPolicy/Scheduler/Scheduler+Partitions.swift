// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Requests that live in a fleet: `"runs": "inFleet"`.
///
/// Their identifiers are divided into partitions. The host that owns a partition adopts its requests, and
/// decides about them as about its own, while its lease is valid. It forgets them when it gives the partition
/// back. The ends of runs that began before it lost a partition are not decided any more: another host may
/// have repeated them.
extension Scheduler {
    /// How often the host of a request may be lost before the request is given up: it may be the reason.
    package static let takeoversMax = 3

    /// Handles an event of the fleet's partitions.
    ///
    /// Its cost is O(log n) for each request that it brings or takes away.
    package mutating func handle(
        _ event: PartitionEvent,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.partition(event), at: now)
        gates.fleet.now = now.sinceBoot
        switch event {
        case .leased(let end): setLease(until: end, now: now)
        case .unleased(let reason): gates.partitions.loseLease(reason, now: now.unix)
        case .granted(let grant, let memories): adopt(grant, memories, now: now)
        case .adopted(let requests):
            for request in requests { adopt(request, now: now, &effects) }
        case .interrupted(let run, let request):
            adopt(interrupted: run, of: request, now: now, &effects)
        case .delivered(let request, let conflict):
            deliver(request, conflict, now: now, &effects)
        case .released(let partitions):
            for partition in partitions {
                relinquish(partition, "this host has given its requests back", now: now, &effects)
            }
        case .fenced(let reason):
            gates.partitions.loseLease(reason, now: now.unix)
            for partition in gates.partitions.owned.keys.sorted() {
                relinquish(partition, reason, now: now, &effects)
            }
        }
        startReadyRequests(now: now, &effects)
    }

    // MARK: Questions

    /// The partition of an identifier whose requests live in the fleet; `nil` for others.
    package func partition(of identifier: String) -> PartitionID? {
        guard gates.partitions.isActive, placedTask(identifier) != nil else { return nil }
        return PartitionID(of: identifier)
    }

    /// Whether the requests of a family's members live in the fleet.
    package func isFamilyInFleet(_ pattern: String) -> Bool {
        gates.partitions.isActive
            && catalog.currentTasks.contains {
                catalog.tasks[$0].isInFleet && catalog.tasks[$0].identifier.description == pattern
            }
    }

    /// Whether a request belongs in the fleet; a manual run is one of this host.
    package func livesInFleet(_ request: Request) -> Bool {
        !request.isManual && partition(of: request.task) != nil
    }

    /// Takes the requests that were restored from this host's own store and belong in the fleet.
    package mutating func takeLeftovers() -> [Request] {
        defer { gates.partitions.leftovers = [] }
        return gates.partitions.leftovers
    }

    /// Why a submission of a task cannot start at once; `nil` if nothing speaks against it.
    package func obstacleToStartNow(_ identifier: String) -> String? {
        if pendingOrAppended(identifier) != nil { return "another request of it is pending" }
        guard partition(of: identifier) != nil else { return nil }
        return "its requests live in the fleet, and the host that owns them starts them"
    }

    /// Whether this host has a partition.
    package func owns(_ partition: PartitionID) -> Bool {
        gates.partitions.owned[partition] != nil
    }

    /// The partitions that this host has, in their order.
    package var ownedPartitions: [PartitionID] { gates.partitions.owned.keys.sorted() }

    /// The partitions in which something runs; O(slots).
    package var runningPartitions: Set<PartitionID> {
        Set(running.all.compactMap(\.running.partition))
    }

    // MARK: The lease

    private mutating func setLease(until end: MonotonicInstant, now: Moment) {
        let wasValid = now.sinceBoot < gates.partitions.validUntil
        gates.partitions.setLease(until: end)
        guard !wasValid else { return }
        for entry in gates.partitions.entries { pendingIndex.recheck(entry: entry, now: now.unix) }
    }

    // MARK: Adoption

    /// The task of an identifier whose requests live in the fleet.
    private func placedTask(_ identifier: String) -> Int? {
        catalog.task(for: identifier).flatMap { catalog.tasks[$0].isInFleet ? $0 : nil }
    }

    /// The entry of an identifier in a partition of this host; `nil` if it is not one of its own.
    mutating func ownedEntry(_ identifier: String) -> (entry: Int, task: Int)? {
        let partition = PartitionID(of: identifier)
        guard owns(partition), let task = placedTask(identifier) else { return nil }
        let entry = entry(for: identifier, task: task)
        gates.partitions.add(entry, to: partition)
        return (entry, task)
    }

    private mutating func adopt(_ grant: PartitionGrant, _ memories: [TaskMemory], now: Moment) {
        gates.partitions.add(grant)
        for memory in memories {
            guard let (entry, _) = ownedEntry(memory.identifier) else { continue }
            self.memories[entry] = memory
            delayThrottled(entry, memory, now: now)
            pendingIndex.noteIfIdle(entry)
        }
    }

    private mutating func adopt(
        _ request: Request,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        guard let (entry, _) = ownedEntry(request.task) else { return }
        if let replaced = pendingIndex.accept(request, entry: entry, now: now.unix) {
            effects.append(.commit([.closed(replaced.id, .replaced)]))
        }
    }

    private mutating func adopt(
        interrupted run: RunRecord,
        of request: Request,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        guard let (entry, _) = ownedEntry(request.task) else { return }
        var record = run
        record.state = .ended
        record.outcome = .lost
        record.endedAt = now.unix
        record.message = "its host was lost while it was under way"
        var again = request
        again.counters.takeovers += 1
        again.removeBeginDates()
        let count = again.counters.takeovers
        let next: AfterRun =
            count < Self.takeoversMax
            ? .again(again) : .dead(again, reason: "its host was lost \(count) times")
        effects.append(.commitEnd([.runEnded(record, then: next)], record))
        switch next {
        case .again(let request):
            // A retry replaces no request.
            _ = pendingIndex.accept(request, entry: entry, now: now.unix)
            effects.append(.log(.again(request, wait: 0)))
        case .dead(let request, let reason):
            effects.append(.log(.dead(request, reason: reason)))
        case .consumed: break
        }
    }

    /// Accepts a submission that the fleet's store has; limits do not refuse it any more.
    private mutating func deliver(
        _ posted: Request,
        _ conflict: ConflictPolicy,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        guard let (entry, task) = ownedEntry(posted.task) else { return }
        if conflict == .keep, hasPending(posted.task) {
            effects.append(.log(.yielded(posted)))
            effects.append(.requestClosed(posted.id))
            return pendingIndex.noteIfIdle(entry)
        }
        var request = posted
        request.isAppended = appends(conflict, entry)
        if conflict == .update, let pending = pendingIndex.entries[entry].pending {
            request.keepDates(of: pending)
        } else {
            chooseStart(&request, task: task, entry: entry, now: now)
        }
        let replaced = request.isAppended ? nil : pendingIndex.entries[entry].pending?.id
        effects.append(.commit([.accepted(request, replacing: replaced)]))
        enqueue(request, entry: entry, now: now, &effects)
    }

    // MARK: Loss

    /// Forgets the requests of a partition, and stops its runs, whose ends are not decided any more.
    private mutating func relinquish(
        _ partition: PartitionID,
        _ reason: String,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        for entry in gates.partitions.remove(partition) {
            for request in pendingIndex.withdrawAll(entry: entry) {
                if request.isManual {
                    // A manual run is one of this host; it replaces nothing.
                    _ = pendingIndex.accept(request, entry: entry, now: now.unix)
                } else {
                    effects.append(.requestClosed(request.id))
                }
            }
            // The row of the state is in the fleet's store, for the next owner.
            _ = memories.removeValue(forKey: entry)
            pendingIndex.delay(entry: entry, until: nil, now: now.unix)
            expiries.remove(entry)
            pendingIndex.noteIfIdle(entry)
        }
        for handle in running.fence(partition) {
            effects.append(.stop(handle, .condition, why: reason))
        }
    }

    /// Ends a run whose request this host does not own any more: its slot becomes free, and nothing is stored.
    mutating func endFenced(
        _ run: RunningTable.Running,
        _ end: RunRecord,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        pendingIndex.finished(
            entry: run.entry,
            group: catalog.pluginOfTask[run.task],
            now: now.unix
        )
        let handler = catalog.handlerOfTask[run.task]
        gates.handlers[handler].running -= 1
        followHandler(handler)
        var record = end
        record.state = .ended
        record.outcome = .lost
        record.message = "this host has lost its request, which the fleet repeats"
        effects.append(.commitEnd([], record))
        effects.append(.log(.fenced(task: run.request.task, run: run.run)))
        startReadyRequests(now: now, &effects)
    }

    // MARK: Runs

    /// The fencing token of the next run, and the partition of its request if that lives in the fleet.
    mutating func nextEpoch(_ request: Request, task: Int) -> (UInt64, PartitionID?) {
        if gates.isPlaced(request, task: task) {
            let partition = PartitionID(of: request.task)
            if let epoch = gates.partitions.nextEpoch(partition) { return (epoch, partition) }
        }
        epoch += 1
        return (epoch, nil)
    }

    /// The gate of a request that lives in the fleet; `nil` for others.
    func partitionGate(_ request: Request, task: Int, now: Moment) -> Gate? {
        guard gates.isPlaced(request, task: task) else { return nil }
        let partitions = gates.partitions
        let isValid = now.sinceBoot < partitions.validUntil
        let isOwn = partitions.owns(request.task)
        let place = "partition \(PartitionID(of: request.task).number) of the fleet"
        var gate = Gate(
            .fleet,
            isOpen: isValid && isOwn,
            now: "this host owns \(place), where the request lives",
            wanted: "a valid lease of the host that owns \(place)",
            source: settings.manifestPath,
            since: isValid ? nil : partitions.lostAt
        )
        if !isOwn {
            gate.now = "the request lives in \(place), which another host owns, or none yet"
            gate.remedy = "`bghost fleet hosts` lists the hosts"
            gate.condition = "this host owned \(place)"
        } else if !isValid {
            let problem = partitions.problem
            gate.now =
                "nothing of the fleet starts on this host: "
                + (problem.isEmpty ? "its store has not answered in time" : problem)
            gate.remedy = "make the fleet's store reachable; `bghost status --fleet` says more"
            gate.condition = "this host had a valid lease in the fleet"
        }
        return gate
    }
}

extension RunGates {
    /// Whether a request lives in the fleet; a manual run is one of this host.
    func isPlaced(_ request: Request, task: Int) -> Bool {
        partitions.isActive && catalog.tasks[task].isInFleet && !request.isManual
    }

    /// Whether a request may start, if it lives in the fleet.
    ///
    /// Its deadline is compared here, because a process that was stopped has not had its timers yet.
    func mayStartPlaced(_ request: Request, task: Int) -> Bool {
        guard isPlaced(request, task: task) else { return true }
        return fleet.now < partitions.validUntil && partitions.owns(request.task)
    }
}
