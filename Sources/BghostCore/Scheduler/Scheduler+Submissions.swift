// SPDX-License-Identifier: Apache-2.0

/// A request that has been accepted and is on its way to the store.
package struct Arrival: Sendable {
    package let request: Request
    /// What is to be stored.
    package let change: StoreChange
    let entry: Int
    let replaced: RunID?
}

extension Scheduler {
    // MARK: From a submission to the request

    /// Checks a submission and makes its request.
    ///
    /// The caller has the arrival's change stored and then says how that went to `arrived`. Until
    /// then, nothing of it is to be seen.
    ///
    /// - Parameters:
    ///   - isSimulated: made by `trigger`; it begins past its dates and counts for nothing.
    ///   - submitter: who brings it.
    /// - Returns: `nil` if it gives way to another request of its task.
    package mutating func accept(
        _ submission: Submission,
        isSimulated: Bool = false,
        by submitter: Submitter = .operator,
        now: Moment
    ) throws(SubmitError) -> Arrival? {
        note(.accept(submission, isSimulated: isSimulated, by: submitter), at: now)
        guard !isDraining else {
            throw SubmitError(.unavailable, "bghost is stopping and takes no more requests")
        }
        guard let task = catalog.task(for: submission.task) else {
            throw SubmitError(.notPermitted, notPermitted(submission.task))
        }
        guard isSimulated || catalog.tasks[task].kind != .urlSession else {
            throw SubmitError(
                .notPermitted,
                "\(submission.task) tells of transfers that have ended, and nobody else submits it;"
                    + " `bghost trigger` runs it as a trial"
            )
        }
        try checkParameters(submission)
        try admit(submission, task: task, isSimulated: isSimulated, by: submitter, now: now)
        guard isSimulated || !givesWay(submission) else { return nil }
        var request = Request(
            id: nextID(now),
            task: submission.task,
            parameters: submission.parameters,
            submittedAt: now.unix,
            earliestBegin: submission.earliestBegin,
            latestBegin: submission.latestBegin,
            tolerance: tolerance(of: submission, task: task),
            priority: min(1000, max(0, submission.priority ?? catalog.tasks[task].priority)),
            requirements: submission.requirements,
            isSimulated: isSimulated,
            submitter: submitter
        )
        let entry = entry(for: request.task, task: task)
        var replaced: RunID?
        if !isSimulated {
            if submission.onConflict == .update, let pending = book.entries[entry].pending {
                request.keepDates(of: pending)
            } else {
                aim(&request, task: task, entry: entry, now: now)
            }
            // One that is on its way to the store is replaced too: commits keep their order.
            replaced = arriving[entry] ?? book.entries[entry].pending?.id
            arriving[entry] = request.id
        }
        if let replaced { gates.beingReplaced.insert(replaced) }
        return Arrival(
            request: request,
            change: .accepted(request, replacing: replaced),
            entry: entry,
            replaced: replaced
        )
    }

    /// An arrival has been stored, or could not be.
    package mutating func arrived(
        _ arrival: Arrival,
        isStored: Bool,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(.arrived(arrival.request.id, isStored: isStored), at: now)
        if let replaced = arrival.replaced { gates.beingReplaced.remove(replaced) }
        if arriving[arrival.entry] == arrival.request.id { arriving[arrival.entry] = nil }
        if isStored, !isPermitted(arrival.entry) {
            // Its task was removed meanwhile, and what it replaces was parked with it.
            for replaced in parking.remove(where: { $0.id == arrival.replaced }).requests {
                effects.append(.note(.replaced(replaced, by: arrival.request.id)))
                effects.append(.ended(replaced.id))
            }
            park([arrival.request], now: now, &effects)
        } else if isStored {
            let replaced = takeIn(arrival.request, entry: arrival.entry, now: now, &effects)
            if let replaced, replaced.id != arrival.replaced {
                // The manifest submitted it while this was on its way to the store.
                effects.append(.commit([.closed(replaced.id, .replaced)]))
            }
        } else {
            book.retry(entry: arrival.entry, now: now.unix)
        }
        beginWhatCan(now: now, &effects)
    }

    /// Puts a stored request into the book.
    ///
    /// - Returns: the one whose place it takes.
    @discardableResult
    mutating func takeIn(
        _ request: Request,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> Request? {
        guard let replaced = book.accept(request, entry: entry, now: now.unix) else { return nil }
        effects.append(.note(.replaced(replaced, by: request.id)))
        effects.append(.ended(replaced.id))
        return replaced
    }

    /// Whether a submission is dropped for a request of its task that is pending or about to be.
    private func givesWay(_ submission: Submission) -> Bool {
        guard submission.onConflict == .keep, let entry = book.entry(of: submission.task) else {
            return false
        }
        return book.entries[entry].pending != nil || arriving[entry] != nil
    }

    private func tolerance(of submission: Submission, task: Int) -> Int64 {
        let tolerance = submission.tolerance ?? catalog.tasks[task].toleranceNanoseconds
        return min(max(0, tolerance), Coalescing.toleranceMax)
    }

    // MARK: Checks

    func notPermitted(_ identifier: String) -> String {
        let known = catalog.currentTasks.map { catalog.tasks[$0].identifier.description }
        let near = Spelling.nearest(to: identifier, among: known).map { "; did you mean `\($0)`?" }
        return
            "`\(PrintableText.escaped(String(identifier.prefix(200))))` is not permitted: add it to"
            + " `tasks` in \(settings.manifestPath)" + (near ?? "")
    }

    private func checkParameters(_ submission: Submission) throws(SubmitError) {
        let bytes = submission.parameters.utf8.count
        guard bytes <= Self.parametersBytesMax else {
            throw SubmitError(
                .payloadTooLarge,
                "the parameters are \(bytes) bytes long; at most \(Self.parametersBytesMax) are taken"
            )
        }
        guard submission.parameters != "{}" else { return }
        guard JSONText.isObject(submission.parameters) else {
            throw SubmitError(
                .badParameters,
                "the parameters of \(submission.task) are not a JSON object"
            )
        }
    }

    /// Refuses what could not begin in time, what is switched off, and what would be one too many.
    private func admit(
        _ submission: Submission,
        task: Int,
        isSimulated: Bool,
        by submitter: Submitter,
        now: Moment
    ) throws(SubmitError) {
        if let off = gates.switchedOff(catalog.pluginOfTask[task]) {
            throw SubmitError(.unavailable, off)
        }
        if let latest = submission.latestBegin {
            let date = Timestamp.text(unixNanoseconds: latest)
            guard latest >= now.unix else {
                throw SubmitError(
                    .pastLatestBegin,
                    "the latest begin date \(date) is over; give one to come, or none"
                )
            }
            guard latest >= submission.earliestBegin ?? latest else {
                throw SubmitError(
                    .pastLatestBegin,
                    "the latest begin date \(date) comes before the earliest; exchange them"
                )
            }
        }
        if isSimulated {
            try checkRequirements(submission, task: task)
        } else if submitter != .manifest {
            try checkCeiling(submission.task, task: task)
        }
    }

    /// A trial run begins at once or not at all, so what it lacks is said instead of waited for.
    private func checkRequirements(_ submission: Submission, task: Int) throws(SubmitError) {
        guard !submission.ignoresRequirements, gates.facts != nil else { return }
        let unmet = gates.unmet(catalog.tasks[task].requirements)
        guard unmet.isEmpty else {
            throw SubmitError(
                .immediateRunIneligible,
                "\(submission.task) cannot run now: \(unmet.map(\.sentence).joined(separator: "; "))"
            )
        }
    }

    // MARK: Ceilings

    /// Those whose pending requests are counted together: a plugin's tasks of one kind.
    func quota(of task: Int) -> Int { catalog.quota(of: task) }

    /// Looks after the replacement: who submits the same identifier again never has too many.
    private func checkCeiling(_ identifier: String, task: Int) throws(SubmitError) {
        let plugin = catalog.plugin(ofTask: task)
        guard let limits = plugin.maxPending else { return }
        let kind = catalog.tasks[task].kind
        let most = limits[kind]
        let quota = quota(of: task)
        let own = book.entry(of: identifier)
        var others = book.submittedRequests(ofQuota: quota)
        if let own, book.entries[own].countsInQuota { others -= 1 }
        // What is on its way to the store is counted only where it may matter.
        if others < most, others + arriving.count >= most {
            others += arriving.keys.count { entry in
                entry != own && book.entries[entry].quota == quota
                    && !book.entries[entry].countsInQuota
            }
        }
        guard others >= most else { return }
        throw SubmitError(
            .tooManyPendingTaskRequests,
            "`\(plugin.name)` has \(others) pending requests of kind \(kind.rawValue) and may have"
                + " \(most); wait for one, withdraw one, or raise its `maxPending` in"
                + " \(settings.manifestPath)"
        )
    }
}

extension Request {
    /// Takes over when another one was to begin, so that whoever brings new parameters again and
    /// again does not put it off.
    fileprivate mutating func keepDates(of other: Request) {
        earliestBegin = other.earliestBegin
        latestBegin = other.latestBegin
        tolerance = other.tolerance
        aim = other.aim
        slot = other.slot
        missed = other.missed
    }
}

extension UnmetRequirement {
    /// What is wanted and what there is, for people.
    package var sentence: String {
        "requirement(\(name)): \(wanted) is wanted; \(source) says \(reading.isEmpty ? "\(value)" : reading)"
    }
}
