// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// Requests: from a submission to the run.
extension Host {
    /// Checks a submission and makes its request.
    func makeRequest(
        _ submission: Submission,
        isSimulated: Bool
    ) throws(SubmitError) -> (request: Request, definition: Int) {
        guard !isDraining else {
            throw SubmitError(.unavailable, "bghost is stopping and takes no more requests")
        }
        guard let index = definition(for: submission.task) else {
            throw SubmitError(.notPermitted, notPermitted(submission.task))
        }
        guard submission.parameters.utf8.count <= HostLimits.parametersBytesMax else {
            throw SubmitError(
                .payloadTooLarge,
                "the parameters are \(submission.parameters.utf8.count) bytes long; at most"
                    + " \(HostLimits.parametersBytesMax) are taken"
            )
        }
        let task = configuration.manifest.tasks[index]
        if submission.parameters != "{}" {
            guard JSONText.isObject(submission.parameters) else {
                throw SubmitError(
                    .badParameters,
                    "the parameters of \(submission.task) are not a JSON object"
                )
            }
        }
        try admit(submission, definition: index, isSimulated: isSimulated)
        let request = Request(
            id: nextID(),
            task: submission.task,
            parameters: submission.parameters,
            submittedAt: WallClock.now,
            earliestBegin: submission.earliestBegin,
            latestBegin: submission.latestBegin,
            priority: min(1000, max(0, submission.priority ?? task.priority)),
            requirements: submission.requirements,
            isSimulated: isSimulated
        )
        return (request, index)
    }

    private func notPermitted(_ identifier: String) -> String {
        let known = configuration.manifest.tasks.map(\.identifier.description)
        let near = Spelling.nearest(to: identifier, among: known).map { "; did you mean `\($0)`?" }
        return
            "`\(PrintableText.escaped(String(identifier.prefix(200))))` is not permitted: add it to"
            + " `tasks` in \(configuration.manifestPath)" + (near ?? "")
    }

    func nextID() -> RunID {
        ids.next(unixMilliseconds: UInt64(max(0, WallClock.now)) / 1_000_000) { random.next() }
    }

    /// Stores a request and takes it in.
    ///
    /// Answers once it is as durable as the store makes it.
    ///
    /// - Returns: `nil` if it gives way to another request of its task.
    func accept(
        _ submission: Submission,
        isSimulated: Bool
    ) async throws(SubmitError) -> Request? {
        let result: Result<Request?, SubmitError> = await withCheckedContinuation { continuation in
            // The checks and the store are one step: an `await` between them gives the thread away,
            // and others would pass the same checks meanwhile.
            do throws(SubmitError) {
                let (request, index) = try makeRequest(submission, isSimulated: isSimulated)
                guard isSimulated || !givesWay(submission) else {
                    return continuation.resume(returning: .success(nil))
                }
                store(request, entry: entry(for: request.task, definition: index)) { stored in
                    continuation.resume(
                        returning: stored.map { request }.mapError { error in
                            SubmitError(
                                .storeFailed,
                                "the request could not be stored: \(error.message)"
                            )
                        }
                    )
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Stores a request, takes it in once it is stored, and then says so on the host's executor.
    func store(
        _ request: Request,
        entry: Int,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        var replaced: RunID?
        if !request.isSimulated {
            // One that is on its way to the store is replaced too: commits keep their order.
            replaced = arriving[entry] ?? book.entries[entry].pending?.id
            arriving[entry] = request.id
        }
        // What is about to be replaced must not begin: the store has it as replaced by then, and
        // would not take its outcome.
        if let replaced { beingReplaced.insert(replaced) }
        commit([.accepted(request, replacing: replaced)]) { [replaced] host, result in
            if let replaced { host.beingReplaced.remove(replaced) }
            if host.arriving[entry] == request.id { host.arriving[entry] = nil }
            switch result {
            case .success: host.takeIn(request, entry: entry)
            case .failure:
                host.book.retry(entry: entry, now: WallClock.now)
                host.dispatch()
            }
            completion(result)
        }
    }

    /// Puts a stored request into the book.
    private func takeIn(_ request: Request, entry: Int) {
        if let replaced = book.accept(request, entry: entry, now: WallClock.now) {
            log.write(
                .debug,
                "request.replaced",
                "\(replaced.id) by \(request.id)",
                task: request.task
            )
            resumeWaiters(of: replaced.id, with: nil)
        }
        armRequests()
        dispatch()
    }

    func entry(for identifier: String, definition: Int) -> Int {
        book.entry(
            for: identifier,
            definition: definition,
            group: pluginOfDefinition[definition].index,
            quota: quota(of: definition),
            overlap: configuration.manifest.tasks[definition].overlap
        )
    }

    // MARK: Time

    /// Arms the timer for the request that is due next.
    ///
    /// The wall clock may be set meanwhile, so the due time is looked at again when the timer
    /// comes.
    func armRequests() {
        guard let due = book.nextDue else { return }
        let wait = UInt64(max(0, due - WallClock.now))
        let (deadline, overflow) = now.addingReportingOverflow(wait)
        arm(overflow ? .max - 1 : deadline, token: TimerToken.requests.raw)
    }

    func requestsDue() {
        book.becomeDue(now: WallClock.now)
        armRequests()
        dispatch()
    }

    // MARK: Dispatch

    /// Begins what can begin, as long as there are slots.
    func dispatch() {
        // Beginning a run may end it at once, which would come back here.
        guard !isDispatching, !isDraining else { return }
        isDispatching = true
        defer { isDispatching = false }
        while runs.count < slotsMax {
            let decision = book.next(now: WallClock.now) { request, definition in
                canBegin(definition) && !beingReplaced.contains(request.id)
                    && (request.isSimulated || unmet(request, definition: definition).isEmpty)
            }
            switch decision {
            case .none:
                guard let plugin = recovered.popLast() else { return }
                retryRequests(of: plugin)
            case .start(let request, let entry): begin(request, entry: entry)
            case .skipped(let request, let entry):
                endWithoutRun(request, entry: entry, .skipped, "its task is running")
            case .missed(let request, let entry):
                endWithoutRun(request, entry: entry, .missed, "its latest begin date has passed")
            case .displace(let entry):
                for number in runs.numbers {
                    guard let index = runs.index(of: number), runs[index]?.entry == entry else {
                        continue
                    }
                    handle(.stop(.user), of: number)
                }
            }
        }
    }

    /// Ends a request that gets no run, or no further one.
    func endWithoutRun(_ request: Request, entry: Int, _ end: RequestEnd, _ why: String) {
        commit([.closed(request.id, end)] + leave(request, entry: entry))
        log.write(.info, "request.\(end.text)", why, task: request.task)
        resumeWaiters(of: request.id, with: nil)
        goOn(after: request, entry: entry)
    }

    func resumeWaiters(of request: RunID, with record: RunRecord?) {
        guard !waiters.isEmpty, let continuations = waiters.removeValue(forKey: request) else {
            return
        }
        for continuation in continuations.values { continuation.resume(returning: record) }
    }
}
