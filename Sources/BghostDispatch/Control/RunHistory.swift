// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostCalendar
package import BghostModel
internal import BghostPolicy
package import BghostServices
internal import BghostStore

/// Answers questions about what happened.
///
/// The host owns it. Use it on the reactor's thread only; it changes nothing, and another thread reads the
/// store.
package final class RunHistory {
    let dispatcher: Dispatcher
    let history: HistoryReader
    let clock: DaemonClock
    let zone: () -> ZoneTable
    let activeRuns: () -> [RunRecord]

    /// - Parameters:
    ///   - zone: the zone of the manifest.
    ///   - activeRuns: the records of the current runs.
    package init(
        _ dispatcher: Dispatcher,
        _ history: HistoryReader,
        _ clock: DaemonClock,
        zone: @escaping () -> ZoneTable,
        activeRuns: @escaping () -> [RunRecord]
    ) {
        self.dispatcher = dispatcher
        self.history = history
        self.clock = clock
        self.zone = zone
        self.activeRuns = activeRuns
    }

    /// A page of runs.
    ///
    /// - Throws: if a time of the question, or the store, cannot be read.
    package nonisolated(nonsending) func runs(
        _ question: RunQuestion
    ) async throws(OperatorRefusal) -> RunPage {
        var query = question.query
        if let since = question.since { query.filter.since = try time(since, of: "since") }
        if let until = question.until { query.filter.until = try time(until, of: "until") }
        if let tag = question.tag { query.filter.tagged = try dispatcher.tasks(taggedWith: tag) }
        let wanted = query
        // Runs in progress are newer than all that have ended.
        let active: [RunRecord] =
            query.before == nil
            ? activeRuns().filter { wanted.filter.matches($0, now: clock.wall) }
                .sorted { $0.id > $1.id } : []
        guard wanted.filter.state != .running else {
            return RunPage(entries: active.prefix(query.limit).map { .init($0, number: nil) })
        }
        var page = try await history.read { $0.runs(wanted) }
        page.prepend(active, limit: query.limit)
        return page
    }

    /// A page of starts that did not happen.
    ///
    /// - Throws: if a time of the question, or the store, cannot be read.
    package nonisolated(nonsending) func skippedStarts(
        _ question: StartQuestion
    ) async throws(OperatorRefusal) -> SkippedStartPage {
        var query = SkippedStartQuery(
            tasks: question.tasks,
            kind: question.kind,
            limit: question.limit
        )
        query.isOfPlugin = try dispatcher.taskCheck(ofPlugin: question.plugin)
        if let since = question.since { query.since = try time(since, of: "since") }
        if let until = question.until { query.until = try time(until, of: "until") }
        if let cursor = question.cursor {
            guard case .starts(let due, let number) = cursor else { throw .badCursor }
            query.after = .init(due: due, number: number)
        }
        let wanted = query
        return try await history.read { $0.skippedStarts(wanted) }
    }

    /// A page of the sums of runs by task and day.
    ///
    /// - Throws: if a time of the question, or the store, cannot be read, or if the cursor is that of another list.
    package nonisolated(nonsending) func runDays(
        _ question: RunDayQuestion
    ) async throws(OperatorRefusal) -> RunDayPage {
        var (first, last) = (Int64.min, Int64.max)
        if let since = question.since { first = RunDay.day(of: try time(since, of: "since")) }
        if let until = question.until {
            last = RunDay.day(of: try time(until, of: "until").subtractingClamped(1))
        }
        var place: RunDayQuery.Place?
        if let cursor = question.cursor {
            guard case .days(let day, let number) = cursor else { throw .badCursor }
            place = .init(day: day, number: number)
        }
        guard first <= last else { return RunDayPage() }
        let wanted = RunDayQuery(
            tasks: question.tasks,
            days: first...last,
            after: place,
            limit: question.limit
        )
        return try await history.read { $0.runDays(wanted) }
    }

    /// What happened to a task around a time.
    package nonisolated(nonsending) func past(
        task: String,
        at text: String
    ) async throws(OperatorRefusal) -> PastExplanation {
        let at = try time(text, of: "at")
        guard at <= clock.wall else {
            throw OperatorRefusal(
                .badTime,
                "\(Timestamp.text(unixNanoseconds: at)) is still to come",
                fix: "`bghost plan` shows what will happen"
            )
        }
        let low = at.subtractingClamped(PastExplanation.window)
        let high = at.addingClamped(PastExplanation.window)
        // Runs of a task that may run several times at once may be many.
        let runsMax = 200
        let found = try await history.read { store in
            (
                runs: store.runs(task: task, endedFrom: low, limit: runsMax),
                starts: store.skippedStarts(
                    SkippedStartQuery(
                        tasks: .task(task),
                        until: high.addingClamped(1),
                        limit: runsMax
                    )
                ).starts,
                keptSince: store.oldestEnd(), isKnown: store.lastRun(task: task) != nil
            )
        }
        let ended = Set(found.runs.map(\.id))
        let active = activeRuns().filter { $0.task == task && !ended.contains($0.id) }
        let waiting = dispatcher.scheduler.requests(of: task)
        guard
            dispatcher.scheduler.catalog.task(for: task) != nil || found.isKnown
                || !found.starts.isEmpty || !waiting.isEmpty || !active.isEmpty
        else { throw dispatcher.noSuchTask(task) }
        return PastExplanation(
            task: task,
            at: at,
            PastExplanation.Evidence(
                runs: found.runs + active,
                starts: found.starts,
                waitingSince: waiting.map { max($0.submittedAt, $0.earliestBegin ?? .min) }.min(),
                keptSince: found.keptSince
            )
        )
    }

    /// - Parameter key: what the time is for.
    /// - Returns: Unix nanoseconds.
    func time(_ text: String, of key: String) throws(OperatorRefusal) -> Int64 {
        try clock.past(text, of: key, in: zone())
    }
}
