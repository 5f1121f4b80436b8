// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostFleetRules
package import BghostModel
package import BghostPolicy
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
        guard thread != nil, !isLeaving else {
            return completion(.failure(StoreError("this host does not take part in the fleet now")))
        }
        let bytes = request.parameters.utf8.count
        guard posts.count < Self.postsMax, postBytes + bytes <= Self.postBytesMax else {
            let reason =
                "\(posts.count) submissions wait for the fleet's store, which is too slow or does not answer;"
                + " `bghost status --fleet` says more"
            return completion(.failure(StoreError(reason)))
        }
        postBytes += bytes
        posts.append((FleetLetter(request, conflict), completion))
        schedule()
    }

    func sendPosts() {
        let sent = Array(posts.prefix(Self.lettersMax))
        posts.removeFirst(sent.count)
        postBytes -= sent.reduce(0) { $0 + $1.letter.request.parameters.utf8.count }
        posting = sent
        let letters = sent.map(\.letter)
        call { store throws(FleetRefusal) in
            try store.post(letters)
        } then: { owner, answer in
            owner.posted(answer)
        }
    }

    private func posted(_ answer: Result<Void, FleetRefusal>) {
        let sent = posting
        posting = []
        switch answer {
        case .success:
            for (letter, completion) in sent {
                let isOwn = dispatcher.scheduler.owns(PartitionID(of: letter.request.task))
                if isOwn { inbound.insert(letter.request.id) }
                completion(.success(()))
            }
            nextLook = .zero
            if posts.isEmpty { moveLeftovers() }
        case .failure(let refusal):
            let error = StoreError(
                "the fleet's store has not confirmed it, and may have it all the same:"
                    + " \(refusal.reason)"
            )
            for (_, completion) in sent { completion(.failure(error)) }
        }
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
            case .success((let letters, let cancels)):
                owner.looked(letters)
                owner.cancelsAfter = cancels.next
                owner.obey(cancels.cancels)
            }
        }
    }

    /// Passes on what a look has found, and notes where the next one begins.
    ///
    /// What this host cannot take, such as requests of tasks that it does not have, stays where it is; the looks
    /// go on behind it, and begin anew at the end.
    private func looked(_ letters: [WaitingLetter]) {
        var hasDelivered = false
        for waiting in letters where deliver(waiting.letter) { hasDelivered = true }
        let isPart = letters.count == Self.lettersMax
        lettersAfter = isPart ? letters.last?.number ?? -1 : -1
        if isPart, hasDelivered { nextLook = .zero }
    }

    /// Passes a submission to the scheduler, if this host owns its partition as a whole.
    ///
    /// - Returns: whether it does.
    private func deliver(_ letter: FleetLetter) -> Bool {
        let request = letter.request
        guard !taken.contains(request.id),
            let partition = dispatcher.scheduler.partition(of: request.task),
            dispatcher.scheduler.owns(partition), adoption?.grant.partition != partition
        else { return false }
        taken.insert(request.id)
        inbound.remove(request.id)
        queue.take(letter: request.id, in: partition)
        watch(request.requirements)
        decide(.delivered(request, letter.onConflict))
        schedule()
        return true
    }

    // MARK: Questions

    /// How many partitions each host owns, by its name, as of the last claim.
    var partitionsByOwner: [String: Int] {
        owners.values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

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

    // MARK: Requests of this host's own store

    /// Posts some of the requests that were stored here before their task had `"runs": "inFleet"`; the others
    /// follow when the fleet's store has these.
    func moveLeftovers() {
        let moved = leftovers.prefix(Self.lettersMax)
        leftovers = leftovers.dropFirst(moved.count)
        for request in moved {
            post(request, .append) { [unowned self] result in
                switch result {
                // It is in the fleet now; here it ends without a word.
                case .success: commits.commit([.closed(request.id, .replaced)])
                case .failure: leftovers.append(request)
                }
            }
        }
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
            requests.set((), for: request.id, in: partition)
            if let replaced { requests.remove(replaced) }
        case .closed(let id, _): requests.remove(id)
        case .discarded(let id): dead.remove(id)
        case .redriven(let request):
            dead.remove(request.id)
            requests.set((), for: request.id, in: partition)
        case .runEnded(let run, let next):
            ended.append((transaction, run))
            if case .again = next { return }
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
