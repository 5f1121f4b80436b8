// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel

/// The columns of a request's row.
enum RequestColumns {
    static let names = names(version: Schema.version)
    /// The columns that follow them in the table of requests.
    static let placeNames = "died_at, dead_run, dead_reason, sum"
    static let count = 21 + 4

    /// The columns in a file that may not be migrated yet.
    static func names(version: Int32) -> String {
        """
        id, task, parameters, submitted_at, earliest_begin, latest_begin, priority, requirements,
        simulated, slot, missed_count, missed_from, submitter, submitter_run, failures, losses,
        interruptions, \(version < 2 ? "NULL" : "tolerance"), \(version < 5 ? "NULL" : "aim"),
        \(version < 6 ? "NULL" : "submitter_plugin"), \(TraceColumns.name(version: version))
        """
    }

    static func bind(_ request: Request, to row: inout Arguments) {
        row.add(request.id)
        row.add(request.task)
        row.add(request.parameters)
        row.add(request.submittedAt)
        row.add(request.earliestBegin)
        row.add(request.latestBegin)
        row.add(request.priority)
        row.add(Int64(request.requirements.rawValue))
        row.add(request.isManual ? 1 : request.isAppended ? 2 : 0)
        row.add(request.scheduledTime)
        row.add(request.missed.map { Int64($0.count) })
        row.add(request.missed?.from)
        switch request.submitter {
        case .operator: bind(submitter: 0, nil, to: &row)
        case .manifest: bind(submitter: 1, nil, to: &row)
        case .run(let id): bind(submitter: 2, id, to: &row)
        case .plugin: bind(submitter: 3, nil, to: &row)
        case .predecessor(let id): bind(submitter: 4, id, to: &row)
        }
        row.add(request.counters.failures)
        row.add(request.counters.losses)
        row.add(request.counters.interruptions)
        row.addLater(request.tolerance == 0 ? nil : request.tolerance)
        row.addLater(request.chosenStart)
        if case .plugin(let name) = request.submitter {
            row.addLater(name)
        } else {
            row.addLater(String?.none)
        }
        row.addLater(request.trace.map(TraceColumns.text))
    }

    private static func bind(submitter: Int64, _ run: RunID?, to row: inout Arguments) {
        row.add(submitter)
        row.add(run)
    }

    static func bindAlive(to row: inout Arguments) {
        row.addNull()
        row.addNull()
        row.addNull()
        row.addSum()
    }

    static func bindDead(_ letter: DeadLetter, to row: inout Arguments) {
        row.add(letter.diedAt)
        row.add(letter.run)
        row.add(letter.reason)
        row.addSum()
    }

    /// Reads a request and its state.
    ///
    /// - Returns: the request, and its dead letter if it is dead.
    static func read(_ row: inout Row) throws(SQLiteFailure) -> (Request, dead: DeadLetter?) {
        let id = try row.id()
        let task = row.text()
        let parameters = row.text()
        let submittedAt = row.int()
        let earliestBegin = row.optionalInt()
        let latestBegin = row.optionalInt()
        let priority = Int(row.int())
        let requirements = RequirementSet(rawValue: UInt16(truncatingIfNeeded: row.int()))
        // 1 is a manual run, 2 an appended request; older versions of this format take that for a manual run.
        let order = row.int()
        let scheduledTime = row.optionalInt()
        let missedCount = row.optionalInt()
        let missedFrom = row.optionalInt()
        let submitter = (code: row.int(), run: try row.optionalID())
        let counters = AttemptCounters(
            failures: try row.count(of: "the failures of a request"),
            losses: try row.count(of: "the losses of a request"),
            interruptions: try row.count(of: "the interruptions of a request")
        )
        let tolerance = row.laterInt() ?? 0
        let chosenStart = row.laterInt()
        let plugin = row.laterText()
        let trace = row.laterText().flatMap(TraceColumns.context)
        let diedAt = row.optionalInt()
        let run = try row.optionalID()
        let reason = row.optionalText()
        try row.checkSum("the requests")
        var missed: MissedStarts?
        if let missedCount, let missedFrom {
            missed = MissedStarts(count: Int(missedCount), from: missedFrom)
        }
        let request = Request(
            id: id,
            task: task,
            parameters: parameters,
            submittedAt: submittedAt,
            earliestBegin: earliestBegin,
            latestBegin: latestBegin,
            tolerance: tolerance,
            chosenStart: chosenStart,
            priority: priority,
            requirements: requirements,
            isManual: order == 1,
            isAppended: order == 2,
            scheduledTime: scheduledTime,
            missed: missed,
            submitter: try self.submitter(submitter.code, submitter.run, plugin),
            counters: counters,
            trace: trace
        )
        guard let diedAt, let run, let reason else { return (request, nil) }
        return (request, DeadLetter(request: request, reason: reason, run: run, diedAt: diedAt))
    }

    private static func submitter(
        _ code: Int64,
        _ run: RunID?,
        _ plugin: String?
    ) throws(SQLiteFailure) -> Submitter {
        switch (code, run, plugin) {
        case (0, nil, nil): .operator
        case (1, nil, nil): .manifest
        case (2, let run?, nil): .run(run)
        case (3, nil, let plugin?): .plugin(plugin)
        case (4, let run?, nil): .predecessor(run)
        default: throw .damaged("a request names no submitter")
        }
    }
}
