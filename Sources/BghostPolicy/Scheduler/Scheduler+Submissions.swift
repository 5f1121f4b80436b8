// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts
package import BghostModel

/// The requests of one identifier that are being stored.
struct UnstoredRequests: Sendable {
    /// The newest one that is no manual run; the others are replaced by it.
    var newest: RunID?
    var count = 0
    /// How many of them are appended.
    var appended = 0
    /// How many of those are of plugins.
    var appendedByPlugins = 0
}

/// An accepted submission that is being stored.
package struct AcceptedSubmission: Sendable {
    package let request: Request
    /// The change to store.
    package let change: StoreChange
    let entry: Int
    let replaced: RunID?
    /// For a request that lives in the fleet, what it does to a pending one; `nil` for others.
    ///
    /// The caller gives it to the fleet's store instead of storing the change. The host that owns it accepts it
    /// then.
    package var posted: ConflictPolicy?
}

extension Scheduler {
    // MARK: Accepting submissions

    /// Checks a submission and creates its request.
    ///
    /// The caller stores the change of the result, and then calls `arrived`. The request is not visible
    /// before that call.
    ///
    /// - Parameters:
    ///   - isManual: whether this is a manual run (`bghost trigger`), which ignores its dates and does not
    ///     change its task's state.
    ///   - submitter: the origin of the submission.
    /// - Returns: `nil` if an existing request of its task takes precedence.
    package mutating func accept(
        _ submission: Submission,
        isManual: Bool = false,
        by submitter: Submitter = .operator,
        now: Moment
    ) throws(SubmitError) -> AcceptedSubmission? {
        recordInput(.accept(submission, isManual: isManual, by: submitter), at: now)
        guard !isDraining else {
            throw SubmitError(.unavailable, "bghost is stopping and takes no more requests")
        }
        guard let task = catalog.task(for: submission.task) else {
            throw SubmitError(.notPermitted, notPermitted(submission.task))
        }
        guard isManual || catalog.tasks[task].kind != .urlSession else {
            throw SubmitError(
                .notPermitted,
                "\(submission.task) handles ended transfers, so only bghost submits it;"
                    + " `bghost trigger` starts a manual run"
            )
        }
        try checkKind(submission, task: task)
        try checkParameters(submission)
        try admit(submission, task: task, isManual: isManual, by: submitter, now: now)
        let isPlaced = !isManual && gates.partitions.isActive && catalog.tasks[task].isInFleet
        // In a fleet, the owner of the request decides about that.
        guard isManual || isPlaced || !yieldsToPending(submission) else { return nil }
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
            isManual: isManual,
            submitter: submitter,
            trace: submission.trace
        )
        if isPlaced {
            return AcceptedSubmission(
                request: request,
                change: .accepted(request, replacing: nil),
                entry: -1,
                replaced: nil,
                posted: submission.onConflict
            )
        }
        let isKnown = pendingIndex.entry(of: request.task) != nil
        let entry = entry(for: request.task, task: task)
        if !isKnown, submitter.isPlugin { pendingIndex.notePluginEntry(entry) }
        request.isAppended = !isManual && appends(submission.onConflict, entry)
        var replaced: RunID?
        var unstored = storing[entry] ?? UnstoredRequests()
        unstored.count += 1
        if !isManual {
            if submission.onConflict == .update, let pending = pendingIndex.entries[entry].pending {
                request.keepDates(of: pending)
            } else {
                chooseStart(&request, task: task, entry: entry, now: now)
            }
        }
        if request.isAppended {
            unstored.appended += 1
            if submitter.isPlugin {
                unstored.appendedByPlugins += 1
                storingAppended += 1
            }
        } else if !isManual {
            // A request that is being stored is replaced too: the store keeps the order of commits.
            replaced = unstored.newest ?? pendingIndex.entries[entry].pending?.id
            unstored.newest = request.id
            storingFromPlugins.remove(entry)
            if submitter.isPlugin { storingFromPlugins.insert(entry) }
        }
        storing[entry] = unstored
        if let replaced { gates.beingReplaced.insert(replaced) }
        return AcceptedSubmission(
            request: request,
            change: .accepted(request, replacing: replaced),
            entry: entry,
            replaced: replaced
        )
    }

    /// Records whether an accepted submission was stored.
    package mutating func finishSubmission(
        _ accepted: AcceptedSubmission,
        isStored: Bool,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.submissionFinished(accepted.request.id, isStored: isStored), at: now)
        guard accepted.posted == nil else { return }
        if let replaced = accepted.replaced { gates.beingReplaced.remove(replaced) }
        if var unstored = storing[accepted.entry] {
            unstored.count -= 1
            let request = accepted.request
            if request.isAppended {
                unstored.appended -= 1
                if request.submitter.isPlugin {
                    unstored.appendedByPlugins -= 1
                    storingAppended -= 1
                }
            }
            if unstored.newest == accepted.request.id {
                unstored.newest = nil
                storingFromPlugins.remove(accepted.entry)
            }
            storing[accepted.entry] = unstored.count > 0 ? unstored : nil
        }
        if isStored, !isPermitted(accepted.entry) {
            // Its task was removed meanwhile, and the request that it replaces was parked with it.
            let replaced = accepted.replaced.map { parking.remove($0).requests } ?? []
            for replaced in replaced {
                effects.append(.log(.replaced(replaced, by: accepted.request.id)))
                effects.append(.requestClosed(replaced.id))
            }
            park([accepted.request], now: now, &effects)
        } else if isStored {
            let replaced = enqueue(accepted.request, entry: accepted.entry, now: now, &effects)
            if let replaced, replaced.id != accepted.replaced {
                // The manifest has submitted that request while this one was being stored.
                effects.append(.commit([.closed(replaced.id, .replaced)]))
            }
        } else {
            pendingIndex.recheck(entry: accepted.entry, now: now.unix)
        }
        pendingIndex.noteIfIdle(accepted.entry)
        startReadyRequests(now: now, &effects)
    }

    /// Adds a stored request to the index.
    ///
    /// - Returns: the request that it replaces.
    @discardableResult
    mutating func enqueue(
        _ request: Request,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> Request? {
        guard let replaced = pendingIndex.accept(request, entry: entry, now: now.unix) else {
            return nil
        }
        effects.append(.log(.replaced(replaced, by: request.id)))
        effects.append(.requestClosed(replaced.id))
        return replaced
    }

    /// Whether a submission is dropped because its task has a request that is pending or being
    /// stored.
    private func yieldsToPending(_ submission: Submission) -> Bool {
        submission.onConflict == .keep && hasPending(submission.task)
    }

    /// Whether a task has a request that is pending or being stored.
    func hasPending(_ identifier: String) -> Bool {
        guard let entry = pendingIndex.entry(of: identifier) else { return false }
        return pendingIndex.entries.pendingOrAppended(entry) != nil
            || storing[entry]?.newest != nil || storing[entry]?.appended ?? 0 > 0
    }

    private func tolerance(of submission: Submission, task: Int) -> Int64 {
        let tolerance = submission.tolerance ?? catalog.tasks[task].toleranceNanoseconds
        return min(max(0, tolerance), Coalescing.toleranceMax)
    }

    // MARK: Checks

    func notPermitted(_ identifier: String) -> String {
        let near = nearestName(to: identifier).map { "; did you mean `\($0)`?" }
        return
            "`\(PrintableText.escaped(String(identifier.prefix(200))))` is not permitted: add it to"
            + " `tasks` in \(settings.manifestPath)" + (near ?? "")
    }

    private func checkKind(_ submission: Submission, task: Int) throws(SubmitError) {
        let kind = catalog.tasks[task].kind
        guard let wanted = submission.kind, wanted != kind else { return }
        throw SubmitError(
            .wrongKind,
            "a \(wanted.rawValue) request was submitted for \(submission.task), which is a task of"
                + " kind \(kind.rawValue): submit a request of that kind, or set"
                + " `\"kind\": \"\(wanted.rawValue)\"` for the task in \(settings.manifestPath)"
        )
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

    /// Refuses a request that could not start in time, whose plugin is disabled, or that exceeds a
    /// limit.
    private func admit(
        _ submission: Submission,
        task: Int,
        isManual: Bool,
        by submitter: Submitter,
        now: Moment
    ) throws(SubmitError) {
        if isManual, let paused = pausedSentence(submission.task) {
            throw SubmitError(.unavailable, paused)
        }
        if let off = gates.disabledReason(catalog.pluginOfTask[task]) {
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
        if isManual {
            try checkRequirements(submission, task: task)
        } else if submitter.isPlugin {
            try checkCeiling(submission, task: task)
        }
        if !isManual { try checkAppended(submission.onConflict, of: submission.task) }
    }

    /// Checks the requirements of a manual run, which starts at once or not at all; so an unmet
    /// requirement is an error.
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

    // MARK: Limits

    /// The memory of the requests that plugins have submitted for a plugin's tasks, bytes.
    package func heldBytes(plugin: Int) -> Int { pendingIndex.heldBytes(ofGroup: plugin) }

    /// The quota in which a task's pending requests are counted: one per plugin and kind.
    func quotaIndex(of task: Int) -> Int { catalog.quotaIndex(of: task) }

    /// Limits the requests that plugins submit; operators and the manifest have no limit.
    ///
    /// The count excludes the request that the submission replaces: a plugin that submits the same identifier
    /// repeatedly never exceeds the limit.
    private func checkCeiling(_ submission: Submission, task: Int) throws(SubmitError) {
        let plugin = catalog.plugin(ofTask: task)
        guard let limits = plugin.maxPending else { return }
        let kind = catalog.tasks[task].kind
        let most = limits[kind]
        let quota = quotaIndex(of: task)
        let entry = pendingIndex.entry(of: submission.task)
        let own = entry.flatMap { appends(submission.onConflict, $0) ? nil : $0 }
        var others = pendingIndex.submittedRequests(ofQuota: quota)
        if storingAppended > 0 {
            for (entry, unstored) in storing where unstored.appendedByPlugins > 0 {
                guard pendingIndex.entries[entry].quota == quota else { continue }
                others += unstored.appendedByPlugins
            }
        }
        if let own, pendingIndex.entries[own].countsInQuota { others -= 1 }
        // Count requests that are being stored only where they may matter.
        if others < most, others + storingFromPlugins.count >= most {
            others += storingFromPlugins.count { entry in
                entry != own && pendingIndex.entries[entry].quota == quota
                    && !pendingIndex.entries[entry].countsInQuota
            }
        }
        guard others >= most else { return }
        throw SubmitError(
            .tooManyPendingTaskRequests,
            "plugins have submitted \(others) pending requests of kind \(kind.rawValue) for"
                + " `\(plugin.name)`, and \(most) may be pending; wait for one, withdraw one, or raise its `maxPending` in"
                + " \(settings.manifestPath)"
        )
    }
}

extension Request {
    /// Copies the dates of another request: otherwise repeated submissions with new parameters would delay
    /// the start again and again.
    mutating func keepDates(of other: Request) {
        earliestBegin = other.earliestBegin
        latestBegin = other.latestBegin
        tolerance = other.tolerance
        chosenStart = other.chosenStart
        scheduledTime = other.scheduledTime
        missed = other.missed
    }
}

extension UnmetRequirement {
    /// A sentence with the required and the current value.
    package var sentence: String {
        "requirement(\(name)): needs \(wanted); \(source) reads \(reading.isEmpty ? value.word : reading)"
    }
}
