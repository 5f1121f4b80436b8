// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFleetRules
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore

/// The calls of the fleet's store, and what follows from their answers.
extension PartitionOwner {
    /// After a call without an answer, nanoseconds.
    private static let retryDelay: UInt64 = 500_000_000

    /// Calls the store on its thread, and handles the answer on the reactor's.
    func call<Answer: Sendable>(
        _ call: @escaping @Sendable (inout any PartitionStore) throws(FleetRefusal) -> Answer,
        then: @escaping @Sendable (PartitionOwner, Result<Answer, FleetRefusal>) -> Void
    ) {
        guard let store, let thread else { return }
        isBusy = true
        thread.perform { [reference] in
            let answer = store.call(call)
            reference.perform { owner in
                owner.isBusy = false
                guard owner.thread != nil else { return }
                owner.clock.read()
                then(owner, answer)
                owner.advance()
            }
        }
    }

    /// Handles a refusal of a call of a registration that is in force.
    func refused(_ refusal: FleetRefusal, _ registration: FenceNumber) {
        guard session?.incarnation == registration else { return }
        guard case .failed(let problem) = refusal else {
            note(problem: refusal.reason)
            var effects: [HostLease.Effect] = []
            lease.refused(registration, &effects)
            return apply(effects)
        }
        unanswered(problem)
        needsResume = true
    }

    private func unanswered(_ problem: FleetProblem) {
        callsFailed += 1
        if unansweredReason != problem.reason {
            unansweredReason = problem.reason
            log.write(.warning, "partitions.unanswered", problem.reason)
            tellStanding()
        }
        retryAt = clock.moment.sinceBoot + Self.retryDelay
    }

    private func answered(_ registration: FenceNumber, sentAt: MonotonicInstant) {
        unansweredReason = ""
        var effects: [HostLease.Effect] = []
        lease.answered(registration, sentAt: sentAt, now: clock.moment.sinceBoot, &effects)
        apply(effects)
        tellLease()
    }

    // MARK: The membership

    func register() {
        guard let settings else { return }
        let terms = HostTerms(
            name: settings.name,
            lease: settings.leaseNanoseconds,
            slots: slotsToOffer
        )
        let nonce = FenceNonce(using: &random)
        let sentAt = clock.moment.sinceBoot
        call { store throws(FleetRefusal) in
            let last = try store.incarnation(of: terms.name)
            return try store.register(terms, after: last, nonce: nonce)
        } then: { owner, answer in
            owner.registered(answer, slots: terms.slots, sentAt: sentAt)
        }
    }

    private func registered(
        _ answer: Result<HostSession, FleetRefusal>,
        slots: Int,
        sentAt: MonotonicInstant
    ) {
        switch answer {
        case .failure(.failed(let problem)): unanswered(problem)
        case .failure(let refusal): unanswered(FleetProblem(.statement, refusal.reason))
        case .success(let session):
            self.session = session
            offeredSlots = slots
            (queue, nextClaim, isRenewalDue) = (BatchQueue(), .zero, false)
            unansweredReason = ""
            var effects: [HostLease.Effect] = []
            let now = clock.moment.sinceBoot
            lease.registered(session.incarnation, sentAt: sentAt, now: now, &effects)
            apply(effects)
            tellLease()
        }
    }

    func resume() {
        guard var session else { return }
        let nonce = session.draw(using: &random)
        self.session = session
        let (asked, sentAt) = (session, clock.moment.sinceBoot)
        call { store throws(FleetRefusal) in
            try store.resume(asked, nonce: nonce)
        } then: { owner, answer in
            owner.resumed(answer, asked.incarnation, sentAt: sentAt)
        }
    }

    private func resumed(
        _ answer: Result<ResumedSession, FleetRefusal>,
        _ registration: FenceNumber,
        sentAt: MonotonicInstant
    ) {
        switch answer {
        case .failure(let refusal): refused(refusal, registration)
        case .success(let resumed):
            guard session?.incarnation == registration else { return }
            session = resumed.session
            needsResume = false
            answered(registration, sentAt: sentAt)
            switch queue.resumed(last: resumed.lastBatch) {
            case .idle: break
            case .kept: kept()
            case .again(let batch): send(batch)
            case .wentBack: refused(.drift, registration)
            }
        }
    }

    func sendLeave() {
        guard let session else { return hasLeft() }
        call { store throws(FleetRefusal) in
            try store.leave(session)
        } then: { owner, _ in
            // Without an answer, the others wait for the lease.
            owner.session = nil
            owner.lease.left()
            owner.hasLeft()
        }
    }

    // MARK: Batches

    func sendBatch() {
        guard let batch = queue.next() else { return }
        send(batch)
    }

    private func send(_ batch: BatchQueue.Numbered) {
        guard let session else { return }
        isRenewalDue = false
        let sentAt = clock.moment.sinceBoot
        lease.sent(at: sentAt)
        call { store throws(FleetRefusal) in
            try store.commit(batch.batch, number: batch.number, session)
        } then: { owner, answer in
            guard owner.session?.incarnation == session.incarnation else { return }
            switch answer {
            case .failure(let refusal): owner.refused(refusal, session.incarnation)
            case .success(let storeClock):
                owner.queue.answered()
                owner.reap.renewed(sentAt: sentAt, storeClock: storeClock)
                owner.taken.subtract(batch.batch.taken.map(\.id))
                owner.answered(session.incarnation, sentAt: sentAt)
                owner.kept()
            }
        }
    }

    // MARK: Partitions

    /// The partitions that this host has, in whatever state.
    private var held: [PartitionID] {
        let adopting = adoption.map { [$0.grant.partition] } ?? []
        return Set(dispatcher.scheduler.ownedPartitions).union(grants.map(\.partition))
            .union(adopting).union(releasing).sorted()
    }

    func claim(_ now: MonotonicInstant) {
        nextClaim = now + lease.length / 5
        if member.isDrained {
            lose(Self.drained)
            giveBack(share: 0)
        }
        guard offeredSlots == slotsToOffer else { return offer(slotsToOffer) }
        guard !member.isDrained else { return askForOwners() }
        tellLease()
        guard var session else { return }
        let nonce = session.draw(using: &random)
        self.session = session
        let (asked, held, mayReap) = (session, held, reap.mayReap(now: now))
        call { store throws(FleetRefusal) in
            let answer = try store.claim(holding: held, mayReap: mayReap, nonce: nonce, asked)
            return (claimed: answer, owners: try store.owners())
        } then: { owner, answer in
            guard owner.session?.incarnation == asked.incarnation else { return }
            switch answer {
            case .failure(let refusal): owner.refused(refusal, asked.incarnation)
            case .success(let answer):
                owner.session = answer.claimed.session
                owner.note(owners: answer.owners)
                owner.grants += answer.claimed.grants
                // What is not its own again now is another host's.
                if owner.grants.isEmpty, owner.adoption == nil { owner.ownRuns = [] }
                owner.giveBack(share: answer.claimed.shares[0] ?? 0)
                owner.moveLeftovers()
            }
        }
    }

    /// With how many slots this host counts in the shares; a drained one leaves all partitions to the others.
    private var slotsToOffer: Int {
        member.isDrained ? 0 : dispatcher.scheduler.settings.slots
    }

    private func offer(_ slots: Int) {
        guard let session else { return }
        call { store throws(FleetRefusal) in
            try store.offer(slots: slots, session)
        } then: { owner, answer in
            guard owner.session?.incarnation == session.incarnation else { return }
            // What the claim would have done follows.
            owner.nextClaim = .zero
            switch answer {
            case .failure(let refusal): owner.refused(refusal, session.incarnation)
            case .success: owner.offeredSlots = slots
            }
        }
    }

    /// Asks who owns the partitions, in the place of a claim.
    private func askForOwners() {
        guard let session else { return }
        call { store throws(FleetRefusal) in
            try store.owners()
        } then: { owner, answer in
            guard owner.session?.incarnation == session.incarnation else { return }
            switch answer {
            case .failure(let refusal): owner.refused(refusal, session.incarnation)
            case .success(let owners): owner.note(owners: owners)
            }
        }
    }

    /// Gives back what is above the share of this host, as far as nothing runs there.
    private func giveBack(share: Int) {
        let owned = dispatcher.scheduler.ownedPartitions
        guard owned.count > share else { return }
        let running = dispatcher.scheduler.runningPartitions
        let idle = Set(
            owned.filter { !running.contains($0) && adoption?.grant.partition != $0 }
        )
        let given = PartitionShare.surplus(
            owned: owned,
            idle: idle,
            share: share,
            most: share == 0 ? owned.count : Self.surplusMax
        )
        guard !given.isEmpty else { return }
        releasing.formUnion(given)
        dispatcher.decide { scheduler, now, effects in
            scheduler.handle(.released(given), now: now, &effects)
        }
        for partition in given {
            requests.removeAll(in: partition)
            dead.removeAll(in: partition)
            unreadable.remove(partition)
        }
    }

    /// The partitions that can go back: the store has all of their changes; `nil` if there are none.
    func givenBack() -> [PartitionID]? {
        guard !releasing.isEmpty else { return nil }
        let ready = releasing.filter { !queue.concerns($0) }.sorted()
        return ready.isEmpty ? nil : ready
    }

    func sendRelease(_ partitions: [PartitionID]) {
        guard let session else { return }
        call { store throws(FleetRefusal) in
            try store.release(partitions, session)
        } then: { owner, answer in
            guard owner.session?.incarnation == session.incarnation else { return }
            switch answer {
            case .failure(let refusal): owner.refused(refusal, session.incarnation)
            case .success: owner.releasing.subtract(partitions)
            }
        }
    }

    func decide(_ event: PartitionEvent) {
        dispatcher.decide { scheduler, now, effects in
            scheduler.handle(event, now: now, &effects)
        }
    }
}

extension FleetRefusal {
    /// A clause without secrets.
    var reason: String {
        switch self {
        case .fenced:
            "the fleet's store does not know this host any more; its lease has ended there"
        case .drift:
            "the fleet's store is not what this host expects; it reads its partitions again"
        case .registeredMeanwhile: "another daemon has registered with the name of this host"
        case .unknownPartition: "the fleet's store does not have the partition"
        case .failed(let problem): problem.reason
        }
    }
}
