// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostFleetRules
package import BghostModel
internal import BghostPolicy
internal import BghostServices
package import BghostStore

/// Submissions for the fleet, and the changes of its requests.
extension PartitionOwner {
    // MARK: Submissions

    /// Gives a submission to the fleet's store.
    ///
    /// - Parameter completion: called with success when the store has it. If the connection breaks, it may have
    ///   it all the same.
    package func post(
        _ request: Request,
        _ conflict: ConflictPolicy,
        completion: @escaping (Result<Void, StoreError>) -> Void
    ) {
        post(FleetPost(FleetLetter(request, conflict), completion: completion))
    }

    /// Whether a request lives in the fleet and is one of this host.
    func has(_ request: RunID) -> Bool { requests.partition(of: request) != nil }

    /// Whether a request is on its way to this host, from this host.
    package func isInbound(_ id: RunID) -> Bool { inbound.contains(id) }

    func look(_ now: MonotonicInstant) {
        guard let session else { return }
        nextLook = now + Self.lookPeriod
        let (number, request) = (lettersAfter, cancelsAfter)
        call { store throws(FleetRefusal) in
            let letters = try store.letters(after: number, limit: Self.lettersMax, session)
            return (letters, try store.cancels(after: request, limit: Self.lettersMax, session))
        } then: { owner, answer in
            guard owner.session?.incarnation == session.incarnation else { return }
            switch answer {
            case .failure(let refusal): owner.refused(refusal, session.incarnation)
            case .success((let page, let cancels)):
                owner.looked(page)
                owner.cancelsAfter = cancels.next
                owner.obey(cancels.cancels)
            }
        }
    }

    /// Passes on what a look has found, and notes where the next one begins.
    ///
    /// What this host cannot take, such as requests of tasks that it does not have, stays where it is; the looks
    /// go on behind it, and begin anew at the end.
    private func looked(_ page: FleetLetterPage) {
        var hasDelivered = false
        for waiting in page.letters where deliver(waiting.letter) { hasDelivered = true }
        warn(strangers: unreadable.note(letters: page.unreadable, isLast: page.next == nil))
        lettersAfter = page.next ?? -1
        if page.next != nil, hasDelivered { nextLook = .zero }
    }

    /// Passes a submission to the scheduler, if this host owns its partition as a whole.
    ///
    /// - Returns: whether it does.
    private func deliver(_ letter: FleetLetter) -> Bool {
        let request = letter.request
        guard !taken.contains(request.id),
            let partition = dispatcher.scheduler.partition(of: request.task),
            dispatcher.scheduler.owns(partition), adoption?.grant.partition != partition,
            !unreadable.has(request.task, in: partition)
        else { return false }
        taken.insert(request.id)
        inbound.remove(request.id)
        queue.take(letter: request.id, in: partition)
        guard requests.partition(of: request.id) == nil, dead.partition(of: request.id) == nil
        else {
            // It was posted twice: the store forgets this one, and the request stays as it is.
            schedule()
            return true
        }
        watch(request.requirements)
        decide(.delivered(request, letter.onConflict))
        schedule()
        return true
    }

    // MARK: Questions

    /// Where the requests of a task live, one sentence without a full stop; "" if that is not the fleet.
    ///
    /// - Parameter isFamily: whether it is a family, whose members are in many partitions.
    func place(of task: String, isFamily: Bool) -> String {
        guard !isFamily else {
            guard dispatcher.scheduler.isFamilyInFleet(task) else { return "" }
            let count = dispatcher.scheduler.ownedPartitions.count
            return "its requests live in the fleet; this host owns \(count) of its"
                + " \(PartitionID.count) partitions, and shows the requests in them"
        }
        guard let partition = dispatcher.scheduler.partition(of: task) else { return "" }
        let place = "its requests live in partition \(partition.number) of the fleet"
        if dispatcher.scheduler.owns(partition) { return "\(place); this host owns it" }
        guard let owner = owners[partition] else { return "\(place), which no host owns now" }
        return "\(place); host `\(owner)` owns it and can show them"
    }

    // MARK: Changes

    /// Adds the changes of requests that live in the fleet to its next batch.
    ///
    /// - Returns: the other changes, for this host's own store, and the number of the transaction: `nil` if none
    ///   of the changes is the fleet's.
    func take(_ changes: [StoreChange]) -> (local: [StoreChange], transaction: UInt64?) {
        var parts: [PartitionID: [StoreChange]] = [:]
        var local: [StoreChange] = []
        for change in changes {
            if let partition = partition(of: change) {
                parts[partition, default: []].append(change)
            } else {
                local.append(change)
            }
        }
        guard !parts.isEmpty else { return (changes, nil) }
        var transaction: UInt64?
        for (partition, part) in parts.sorted(by: { $0.key < $1.key }) {
            do throws(BatchFold.Contradiction) {
                let added = try queue.add(part, in: partition)
                local += added.local
                transaction = added.transaction
                for change in part { follow(change, in: partition, added.transaction) }
            } catch {
                contradicted(error)
            }
        }
        schedule()
        return (local, transaction)
    }

    /// The parts of a transaction as ``take(_:)`` would divide it.
    func split(_ changes: [StoreChange]) -> (local: [StoreChange], shared: [StoreChange]) {
        var (local, shared) = ([StoreChange](), [StoreChange]())
        for change in changes {
            if partition(of: change) == nil { local.append(change) } else { shared.append(change) }
        }
        return (local, shared)
    }

    /// Calls a function when a transaction is kept, or cannot be any more.
    func whenKept(_ transaction: UInt64, _ completion: @escaping (Result<Void, StoreError>) -> Void)
    {
        waiting.append((transaction, completion))
    }

    private func partition(of change: StoreChange) -> PartitionID? {
        switch change {
        case .accepted(let request, _):
            taken.contains(request.id) ? PartitionID(of: request.task) : nil
        case .closed(let id, _): requests.partition(of: id)
        case .discarded(let id): dead.partition(of: id)
        case .redriven(let request): dead.partition(of: request.id)
        case .runStarted(let run), .runEnded(let run, _): requests.partition(of: run.request)
        case .moved(let request): requests.partition(of: request.id)
        case .remembered(let memory):
            dispatcher.scheduler.partition(of: memory.identifier)
                .flatMap { dispatcher.scheduler.owns($0) ? $0 : nil }
        case .runtimeConsumed, .notification, .checkpointSaved, .checkpointDeleted, .switched,
            .paused, .startSkipped, .audited, .manifest, .alert, .quarantined:
            nil
        }
    }

    /// Notes which requests this host has.
    private func follow(_ change: StoreChange, in partition: PartitionID, _ transaction: UInt64) {
        switch change {
        case .accepted(let request, let replaced):
            requests.set(nil, for: request.id, in: partition)
            if let replaced { requests.remove(replaced) }
        case .closed(let id, _): requests.remove(id)
        case .discarded(let id): dead.remove(id)
        case .redriven(let request):
            dead.remove(request.id)
            requests.set(nil, for: request.id, in: partition)
        case .runStarted(let run): requests.set(run.id, for: run.request, in: partition)
        case .runEnded(let run, let next):
            ended.append((transaction, run))
            if case .again = next { return requests.set(nil, for: run.request, in: partition) }
            requests.remove(run.request)
            guard case .dead(let request, let reason) = next else { return }
            let letter = DeadLetter(
                request: request,
                reason: reason,
                run: run.id,
                diedAt: run.endedAt ?? 0
            )
            dead.set(letter, for: request.id, in: partition)
            // The scheduler is in the middle of its decisions.
            if dead.count(in: partition) > Self.deadMax {
                reference.perform { $0.dropDead(in: partition) }
            }
        default: break
        }
    }

    /// Drops the oldest dead letters of a partition that has too many: mostly one, and many after an update of a
    /// bghost that kept them all.
    func dropDead(in partition: PartitionID) {
        let surplus = dead.count(in: partition) - Self.deadMax
        guard surplus > 0, mayDrop(in: partition) else { return }
        let letters = dead.values(in: partition)
        let oldest =
            surplus == 1
            ? letters.min { $0.isOlder(than: $1) }.map { [$0] } ?? []
            : Array(letters.sorted { $0.isOlder(than: $1) }.prefix(surplus))
        let what = surplus == 1 ? "the oldest, \(oldest[0].request.id)" : "the \(surplus) oldest"
        log.write(
            .warning,
            "request.dropped",
            "partition \(partition.number) of the fleet has \(Self.deadMax) dead letters, the most that are"
                + " kept: dropped \(what)",
            task: surplus == 1 ? oldest[0].request.task : nil
        )
        drop(oldest.map(\.request.id)[...], in: partition)
    }

    /// Without the partition, or after this host has left, its dead letters are the next owner's.
    private func mayDrop(in partition: PartitionID) -> Bool {
        thread != nil && dispatcher.scheduler.owns(partition)
    }

    private func drop(_ letters: ArraySlice<RunID>, in partition: PartitionID) {
        guard !letters.isEmpty, mayDrop(in: partition) else { return }
        let now = letters.prefix(Self.sliceMax).filter { dead.partition(of: $0) != nil }
        commits.commit(now.map { .discarded($0) })
        let rest = letters.dropFirst(Self.sliceMax)
        reference.perform { $0.drop(rest, in: partition) }
    }

    /// Handles what the store has kept by now.
    func kept() {
        let last = queue.kept
        let count = waiting.firstIndex { $0.transaction > last } ?? waiting.count
        let done = waiting.prefix(count)
        waiting.removeFirst(count)
        let runs = ended.prefix(ended.firstIndex { $0.transaction > last } ?? ended.count)
        ended.removeFirst(runs.count)
        for (_, run) in runs { note(run) }
        for (_, completion) in done { completion(.success(())) }
    }

    /// Adds a run to the history of this host: the request itself is the fleet's.
    private func note(_ run: RunRecord) {
        let request = Request(
            id: run.request,
            task: run.task,
            parameters: "{}",
            submittedAt: run.submittedAt,
            priority: 0
        )
        commits.commitLocally([
            .accepted(request, replacing: nil), .runStarted(run), .runEnded(run, then: .consumed),
        ])
    }

    private func contradicted(_ contradiction: BatchFold.Contradiction) {
        // The scheduler is in the middle of its decisions.
        reference.perform { owner in
            guard let session = owner.session else { return }
            owner.clock.read()
            owner.note(
                problem:
                    "a change of request \(contradiction.request) does not follow the one before"
                    + " it (a bug in bghost)"
            )
            var effects: [HostLease.Effect] = []
            owner.lease.refused(session.incarnation, &effects)
            owner.apply(effects)
            owner.advance()
        }
    }
}

extension DeadLetter {
    fileprivate func isOlder(than other: DeadLetter) -> Bool {
        (diedAt, request.id) < (other.diedAt, other.request.id)
    }
}
