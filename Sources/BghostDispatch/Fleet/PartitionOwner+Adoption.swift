// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFleetRules
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore

/// The way of a granted partition's contents into the scheduler.
extension PartitionOwner {
    /// The contents of a partition on their way to the scheduler.
    struct Adoption {
        let grant: PartitionGrant
        var contents: PartitionContents
        var isGranted = false
        /// Requests of tasks that this host does not have.
        var strangers = 0
    }

    /// What has been read of a partition, and where the rest begins.
    struct PartRead {
        var contents: PartitionContents
        var next: ContentsPlace
    }

    // MARK: Reading

    /// Reads a part of a partition; calls that are due go before the next one.
    func read(_ grant: PartitionGrant) {
        guard let session else { return }
        let place = partsRead[grant.partition]?.next
        call { store throws(FleetRefusal) in
            try store.contents(of: grant.partition, after: place)
        } then: { owner, answer in
            guard owner.session?.incarnation == session.incarnation, owner.grants.first == grant
            else { return }
            switch answer {
            case .failure(let refusal):
                // Claims and looks go before the next attempt, and so do other partitions.
                owner.grants.append(owner.grants.removeFirst())
                owner.nextRead = owner.clock.moment.sinceBoot + Self.lookPeriod
                owner.refused(refusal, session.incarnation)
            case .success(let page): owner.add(page, of: grant)
            }
        }
    }

    private func add(_ page: ContentsPage, of grant: PartitionGrant) {
        // Taken out, so that adding copies nothing.
        var contents =
            partsRead.removeValue(forKey: grant.partition)?.contents ?? PartitionContents()
        contents.append(page.contents)
        if let next = page.next {
            partsRead[grant.partition] = PartRead(contents: contents, next: next)
            return
        }
        grants.removeFirst()
        adoption = Adoption(grant: grant, contents: contents)
        adopt()
    }

    // MARK: Adoption

    /// Adopts a part of a partition; the next one follows in another turn.
    ///
    /// Interrupted requests come first: an appended request waits for those that the scheduler has by then.
    private func adopt() {
        guard var adoption else { return }
        let partition = adoption.grant.partition
        if !adoption.isGranted {
            adoption.isGranted = true
            let (grant, memories) = (adoption.grant, adoption.contents.memories)
            decide(.granted(grant, memories))
        }
        let interrupted = adoption.contents.interrupted.prefix(Self.sliceMax)
        adoption.contents.interrupted.removeFirst(interrupted.count)
        for (request, run) in interrupted {
            guard !known([request], &adoption.strangers).isEmpty else { continue }
            adopt(request, interruptedIn: run, in: partition)
        }
        if adoption.contents.interrupted.isEmpty {
            adopt(adoption.contents.pending.prefix(Self.sliceMax), of: &adoption)
        }
        let isDone = adoption.contents.pending.isEmpty && adoption.contents.interrupted.isEmpty
        self.adoption = isDone ? nil : adoption
        guard isDone else { return reference.perform { $0.adoptNext() } }
        for letter in adoption.contents.dead {
            dead.set(letter, for: letter.request.id, in: partition)
        }
        nextLook = .zero
        dropDead(in: partition)
        warn(strangers: unreadable.note(adoption.contents.unreadable, in: partition))
        guard adoption.strangers > 0 else { return }
        warn(
            strangers: CountText.of(adoption.strangers, "request")
                + " of the fleet in partition \(partition.number) "
                + (adoption.strangers == 1 ? "waits" : "wait")
                + " for a host that has the task with `\"runs\": \"inFleet\"`"
        )
    }

    private func adopt(_ slice: ArraySlice<Request>, of adoption: inout Adoption) {
        adoption.contents.pending.removeFirst(slice.count)
        let pending = known(slice, &adoption.strangers)
        for request in pending {
            requests.set(nil, for: request.id, in: adoption.grant.partition)
            watch(request.requirements)
        }
        if !pending.isEmpty { decide(.adopted(pending)) }
    }

    private func adopt(
        _ request: Request,
        interruptedIn run: RunRecord,
        in partition: PartitionID
    ) {
        requests.set(run.id, for: request.id, in: partition)
        watch(request.requirements)
        guard ownRuns.remove(run.id) != nil else {
            return decide(.interrupted(run, of: request))
        }
        // Its host is this one, which has not died of it: it is no takeover.
        var record = run
        record.state = .ended
        record.outcome = .lost
        record.endedAt = clock.wall
        record.message = "this host had to read its requests of the fleet again"
        var again = request
        again.counters.interruptions += 1
        again.removeBeginDates()
        dispatcher.execute([.commitEnd([.runEnded(record, then: .again(again))], record)])
        decide(.adopted([again]))
    }

    private func adoptNext() {
        clock.read()
        adopt()
        advance()
    }

    /// Those of some requests whose tasks this host has.
    private func known(_ requests: some Sequence<Request>, _ strangers: inout Int) -> [Request] {
        let all = Array(requests)
        let known = all.filter { dispatcher.scheduler.partition(of: $0.task) != nil }
        strangers += all.count - known.count
        return known
    }

    /// Logs that something waits for a host that can take it.
    func warn(strangers text: String?) {
        if let text { log.write(.warning, "partitions.strangers", text) }
    }
}
