// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostFacts
internal import BghostModel

/// What the history keeps of starts that did not happen, or happened late.
///
/// Each is a change in the transaction of the decision. It costs the requirements of the request.
extension Scheduler {
    /// How long after its due date a start is late, nanoseconds: shorter waits for a slot are usual.
    static let lateAfter: Int64 = 60_000_000_000

    /// The row of a request that ends without a run; `nil` for an end that a client asked for.
    func skippedStart(_ request: Request, _ end: RequestEnd, now: Moment) -> SkippedStart? {
        let kind: SkippedStart.Kind
        switch end {
        case .cancelled, .replaced: return nil
        case .missed: kind = .late
        case .skipped: kind = .overlap
        case .paused: return pausedStart(request, now: now)
        case .notPermitted: kind = .notPermitted
        case .servedElsewhere: kind = .servedElsewhere
        }
        let due = dueDate(of: request)
        let wait = kind == .late ? waitCause(of: request, due: due, now: now) : nil
        return SkippedStart(
            task: request.task,
            kind: kind,
            request: request.id,
            due: due,
            until: now.unix,
            cause: wait?.cause
                ?? (end == .servedElsewhere ? gates.fleet.server(of: request.id) ?? "" : ""),
            causeSince: wait?.since
        )
    }

    /// The row of starts that fell into a pause; several if they came while bghost could not run.
    private func pausedStart(_ request: Request, now: Moment) -> SkippedStart {
        let pause = pauses(of: request.task).first
        return SkippedStart(
            task: request.task,
            kind: .paused,
            request: request.id,
            due: request.missed?.from ?? dueDate(of: request),
            until: now.unix,
            count: startCount(of: request),
            cause: pause?.clause(of: request.task) ?? "",
            causeSince: pause?.since
        )
    }

    /// The number of starts for which a request of a schedule stands.
    private func startCount(of request: Request) -> Int {
        guard let missed = request.missed else { return 1 }
        let schedule = pendingIndex.entry(of: request.task).flatMap { schedules[$0] }
        // Its own start is one of those that were missed if it was late.
        return missed.count + (schedule?.countsItself(request) == false ? 1 : 0)
    }

    /// The row of a request that starts late; `nil` if it is on time.
    func delayedStart(_ request: Request, now: Moment) -> SkippedStart? {
        // Missed starts have a row of their own, and a retry waits by design.
        guard !request.isManual, !request.isRetry, request.missed == nil else { return nil }
        let due = dueDate(of: request)
        let onTime = due.addingClamped(request.tolerance).addingClamped(Self.lateAfter)
        guard now.unix > onTime else { return nil }
        let wait = waitCause(of: request, due: due, now: now)
        return SkippedStart(
            task: request.task,
            kind: .delayed,
            request: request.id,
            due: due,
            until: now.unix,
            cause: wait.cause,
            causeSince: wait.since
        )
    }

    /// The row of starts that a schedule missed.
    func missedStarts(
        _ missed: MissedStarts,
        task: String,
        isMadeUpFor: Bool,
        now: Moment
    ) -> SkippedStart {
        SkippedStart(
            task: task,
            kind: isMadeUpFor ? .merged : .misfire,
            due: missed.from,
            until: now.unix,
            count: missed.count
        )
    }

    private func dueDate(of request: Request) -> Int64 {
        max(request.submittedAt, request.earliestBegin ?? .min)
    }

    /// What a request waited for after it was due, as far as the histories of the gates tell; the one
    /// that was met last.
    private func waitCause(
        of request: Request,
        due: Int64,
        now: Moment
    ) -> (cause: String, since: Int64?) {
        var last: (cause: String, since: Int64?, met: Int64)?
        func consider(_ cause: String, _ changes: [Fact.Change], isMet: Bool) {
            // Without an earlier state, it was met all the time that the daemon knows of.
            guard let change = changes.first, !isMet || changes.count > 1 else { return }
            let met = isMet ? change.at : now.unix
            guard met > due, met > last?.met ?? .min else { return }
            // The state before the last change is the one that blocked it.
            let since = isMet ? changes.dropFirst().first?.at : change.at
            last = (cause, since, met)
        }
        if let task = catalog.task(for: request.task) {
            let required = gates.required(by: request, task: task)
                .union(gates.watched(byTask: task))
            let facts = gates.facts ?? FactSheet(probes: [])
            let unmet = gates.unmet(required).reduce(into: RequirementSet()) {
                $0.formUnion($1.requirement)
            }
            for requirement in required.each {
                consider(
                    requirement.name(probes: facts.probes),
                    facts[requirement].changes,
                    isMet: unmet.isDisjoint(with: requirement)
                )
            }
            let plugin = catalog.pluginOfTask[task]
            let name = catalog.plugins[plugin].name
            consider(
                "plugin `\(name)` to be enabled",
                gates.plugins[plugin].switches.changes,
                isMet: gates.isEnabled(plugin)
            )
            consider(
                "a library of `\(name)` that can be used",
                gates.plugins[plugin].problems.changes,
                isMet: gates.isUsable(plugin)
            )
        }
        if let pause = pauses(of: request.task).first {
            last = ("the end of a pause", pause.since, now.unix)
        } else if let pause = gates.pauses.lastEnded(
            of: request.task,
            plugin: pluginName(of: request.task)
        ), let end = pause.until, end > due, end > last?.met ?? .min {
            last = ("the end of a pause", pause.since, end)
        }
        if let end = pendingIndex.entry(of: request.task).flatMap({ memories[$0]?.throttle.end }),
            end > due, end > last?.met ?? .min
        {
            last = ("the end of its throttling", nil, end)
        }
        if let startedAt, startedAt > due, startedAt > last?.met ?? .min {
            last = ("the start of bghost", nil, startedAt)
        }
        guard let last else {
            return ("a slot, or for another run of its task or handler", nil)
        }
        return (last.cause, last.since)
    }
}

extension StoreChange {
    /// Whether it only notes what happened: recordings of older versions lack such changes.
    var isUnrecorded: Bool {
        switch self {
        case .startSkipped, .audited, .manifest, .checkpointSaved, .checkpointDeleted: true
        default: false
        }
    }
}
