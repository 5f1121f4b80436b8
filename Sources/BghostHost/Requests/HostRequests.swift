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
        let request = Request(
            id: nextID(),
            task: submission.task,
            parameters: submission.parameters,
            submittedAt: WallClock.now,
            earliestBegin: submission.earliestBegin,
            priority: min(1000, max(0, submission.priority ?? task.priority)),
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
    func accept(_ submission: Submission, isSimulated: Bool) async throws(SubmitError) -> Request {
        let (request, definition) = try makeRequest(submission, isSimulated: isSimulated)
        let entry = entry(for: request.task, definition: definition)
        let replaced = isSimulated ? nil : book.entries[entry].pending?.id
        guard await commit([.accepted(request, replacing: replaced)]) else {
            throw SubmitError(
                .storeFailed,
                "the request could not be stored; bghost's log says why"
            )
        }
        takeIn(request, entry: entry)
        return request
    }

    /// Puts a stored request into the book.
    func takeIn(_ request: Request, entry: Int) {
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
            overlap: configuration.manifest.tasks[definition].overlap
        )
    }

    /// Commits a transaction and waits for it.
    ///
    /// In a store that answers at once nothing is suspended for longer than a hop.
    private func commit(_ changes: [StoreChange]) async -> Bool {
        await withCheckedContinuation { continuation in
            store.commit(changes) { [log] result in
                if case .failure(let error) = result {
                    log.write(.error, "store.failed", error.description)
                }
                continuation.resume(returning: (try? result.get()) != nil)
            }
        }
    }

    /// Commits a transaction that nobody waits for.
    func commitLater(_ changes: [StoreChange]) {
        store.commit(changes) { [log] result in
            if case .failure(let error) = result {
                log.write(.error, "store.failed", error.description)
            }
        }
    }

    // MARK: The daemon's own submissions

    func recoverRequests() {
        do {
            for request in try store.recover().pending {
                guard let index = definition(for: request.task) else {
                    log.write(
                        .warning,
                        "request.parked",
                        "\(request.id) is kept, but the manifest does not permit its task any more",
                        task: request.task
                    )
                    continue
                }
                _ = book.accept(
                    request,
                    entry: entry(for: request.task, definition: index),
                    now: WallClock.now
                )
            }
            armRequests()
        } catch {
            log.write(.error, "store.failed", error.description)
        }
    }

    func submitAtStart() {
        for (index, task) in configuration.manifest.tasks.enumerated()
        where !task.identifier.isFamily {
            let entry = entry(for: task.identifier.description, definition: index)
            guard book.entries[entry].pending == nil else { continue }
            if task.submitAtStart {
                submitOwn(task.identifier.description, index, entry, earliest: nil)
            } else {
                submitNext(index, entry: entry)
            }
        }
        dispatch()
    }

    /// Submits the next request of a task that repeats, unless one is pending.
    func submitNext(_ definition: Int, entry: Int) {
        guard let every = configuration.manifest.tasks[definition].every,
            book.entries[entry].pending == nil, !isDraining
        else { return }
        let (due, overflow) = WallClock.now.addingReportingOverflow(
            Int64(clamping: every.clampedNanoseconds)
        )
        guard !overflow else { return }
        submitOwn(book.entries[entry].identifier, definition, entry, earliest: due)
    }

    private func submitOwn(_ identifier: String, _ definition: Int, _ entry: Int, earliest: Int64?)
    {
        let request = Request(
            id: nextID(),
            task: identifier,
            parameters: "{}",
            submittedAt: WallClock.now,
            earliestBegin: earliest,
            priority: configuration.manifest.tasks[definition].priority
        )
        commitLater([.accepted(request, replacing: nil)])
        _ = book.accept(request, entry: entry, now: WallClock.now)
        armRequests()
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
            let decision = book.next(now: WallClock.now, canStart: canBegin)
            switch decision {
            case .none:
                guard let plugin = recovered.popLast() else { return }
                retryRequests(of: plugin)
            case .start(let request, let entry): begin(request, entry: entry)
            case .skipped(let request, _):
                commitLater([.withdrawn(request.id, reason: "its task was running")])
                log.write(.info, "request.skipped", "its task is running", task: request.task)
                resumeWaiters(of: request.id, with: nil)
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

    func resumeWaiters(of request: RunID, with record: RunRecord?) {
        guard !waiters.isEmpty, let continuations = waiters.removeValue(forKey: request) else {
            return
        }
        for continuation in continuations.values { continuation.resume(returning: record) }
    }
}
