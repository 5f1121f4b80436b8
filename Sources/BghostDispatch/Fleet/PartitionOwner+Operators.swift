// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostFleetRules
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices

/// What operators ask about the requests of all hosts, and their cancels.
extension PartitionOwner {
    // MARK: Questions

    /// A page of the requests of all hosts.
    nonisolated(nonsending) func requests(
        _ question: FleetRequestQuestion
    ) async throws(OperatorRefusal) -> API.FleetRequests {
        switch question.cursor {
        case nil, .fleetRequest: break
        case .fleetLetter where !question.isDead: break
        default: throw .badCursor
        }
        let asked = FleetQuestion(
            isDead: question.isDead,
            tasks: question.tasks,
            cursor: question.cursor,
            limit: question.limit
        )
        let page = try await ask("the question changed nothing; repeat it later") {
            store throws(FleetRefusal) in try store.page(asked)
        }
        return API.FleetRequests(requests: page.rows.map(Self.listed), next: page.next?.text)
    }

    /// Asks the owner of a request to end it.
    nonisolated(nonsending) func cancel(
        _ text: String
    ) async throws(OperatorRefusal) -> API.FleetCancellation {
        var found: FleetCancelAnswer?
        if let id = RunID(text) {
            found = try await ask("`bghost pending --fleet` shows whether it was done") {
                store throws(FleetRefusal) in try store.cancel(id)
            }
        }
        guard let found else {
            throw OperatorRefusal(
                .noSuchRequest,
                "no request with the id \(PrintableText.escaped(String(text.prefix(40)))) waits or runs in"
                    + " the fleet",
                fix: "`bghost pending --fleet` lists them, with their whole ids"
            )
        }
        guard found.row.state != .dead else {
            throw OperatorRefusal(
                .noSuchRequest,
                "request \(found.row.request.id) is a dead letter already",
                fix: "`bghost discard` deletes it"
                    + (found.row.owner.map { " on `\($0)`, which owns it" } ?? "")
            )
        }
        // This host need not wait for its next look.
        nextLook = .zero
        schedule()
        return API.FleetCancellation(changed: found.isNew, request: Self.listed(found.row))
    }

    private static func listed(_ row: FleetRow) -> API.FleetRequest {
        API.FleetRequest(
            state: row.state.rawValue,
            partition: Int(row.partition.number),
            owner: row.owner,
            run: row.run,
            reason: row.letter?.reason ?? "",
            diedAt: row.letter?.diedAt,
            cancelled: row.isCancelled,
            request: API.Request(PendingRequest(row.request))
        )
    }

    /// Asks the fleet's store on a thread and a connection of its own: a slow answer delays no renewal.
    ///
    /// - Parameter remedy: what to do if the store does not answer.
    private nonisolated(nonsending) func ask<Answer: Sendable>(
        _ remedy: String,
        _ question: @escaping @Sendable (inout any PartitionStore) throws(FleetRefusal) -> Answer
    ) async throws(OperatorRefusal) -> Answer {
        guard settings != nil else { throw .noFleet }
        guard let makeStore else {
            throw OperatorRefusal(
                .noFleetRequests,
                "no task of this host has `\"runs\": \"inFleet\"`",
                fix: "ask a host that has such tasks; `bghost fleet hosts` lists them"
            )
        }
        guard isActive, !isLeaving else {
            throw OperatorRefusal(.unavailable, "this host joins or leaves its fleet now")
        }
        guard asked < Self.askedMax else {
            throw OperatorRefusal(
                .fleetUnanswered,
                "\(asked) questions wait for the fleet's database, which does not answer or is slow",
                fix: remedy
            )
        }
        let thread = questions ?? WorkThread()
        questions = thread
        asked += 1
        defer { asked -= 1 }
        let answer = await withCheckedContinuation { reply in
            thread.perform { reply.resume(returning: makeStore().call(question)) }
        }
        switch answer {
        case .success(let answer): return answer
        case .failure(let refusal):
            throw OperatorRefusal(
                .fleetUnanswered,
                "the fleet does not answer: \(refusal.reason)",
                fix: remedy
            )
        }
    }

    // MARK: Cancels

    /// Ends the requests that operators have cancelled on any host, as far as this host has them.
    ///
    /// The store lists a cancel until its request has ended. So a run that fails while it is being stopped,
    /// and is to be repeated, is withdrawn by the next look.
    func obey(_ cancels: [FleetCancel]) {
        var waiting: [String: Set<RunID>] = [:]
        for cancel in cancels where requests.partition(of: cancel.request) != nil {
            guard !stopRun(cancel.request) else { continue }
            waiting[cancel.task, default: []].insert(cancel.request)
        }
        for (task, ids) in waiting.sorted(by: { $0.key < $1.key }) {
            for id in withdraw(ids, of: task) {
                log.write(
                    .info,
                    "partitions.cancelled",
                    "an operator has cancelled request \(id) in the fleet",
                    task: task
                )
            }
        }
    }

    /// Withdraws some waiting requests of a task, and leaves its others as they are: O(requests of the task).
    ///
    /// The scheduler withdraws all of a task; those that are not meant are given back to it. The store sees only
    /// the ones that are: the others are pending there all the time.
    ///
    /// - Returns: those of them that waited.
    private func withdraw(_ requests: Set<RunID>, of task: String) -> [RunID] {
        let (withdrawn, effects) = dispatcher.propose { scheduler, now, effects in
            scheduler.withdrawAll(of: [task], now: now, &effects)
        }
        let others = withdrawn.requests.filter { !requests.contains($0.id) }
        let ids = Set(others.map(\.id))
        commits.commit(
            withdrawn.changes.filter { change in
                if case .closed(let id, _) = change { !ids.contains(id) } else { true }
            }
        )
        dispatcher.execute(
            effects.filter { effect in
                switch effect {
                case .requestClosed(let id): !ids.contains(id)
                case .log(.closed(let request, _)): !ids.contains(request.id)
                default: true
                }
            }
        )
        if !others.isEmpty { decide(.adopted(others)) }
        return withdrawn.requests.map(\.id).filter { requests.contains($0) }
    }
}

extension FleetMember {
    /// A page of the requests of all hosts of the fleet.
    package nonisolated(nonsending) func requests(
        _ question: FleetRequestQuestion
    ) async throws(OperatorRefusal) -> API.FleetRequests {
        guard let partitions else { throw .noFleet }
        return try await partitions.requests(question)
    }

    /// Asks the owner of a request of the fleet to end it.
    package nonisolated(nonsending) func cancel(
        _ request: String
    ) async throws(OperatorRefusal) -> API.FleetCancellation {
        guard let partitions else { throw .noFleet }
        return try await partitions.cancel(request)
    }
}

extension OperatorRefusal {
    /// The error for a host without `host.fleet`.
    static var noFleet: OperatorRefusal {
        OperatorRefusal(
            .noFleet,
            "this host is in no fleet",
            fix: "`host.fleet` of the manifest names one"
        )
    }
}
