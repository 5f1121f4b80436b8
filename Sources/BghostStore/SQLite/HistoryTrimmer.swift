// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Deletes the history that exceeds its limits, a few hundred rows at a time.
///
/// The committer's thread uses it between transactions, so no caller waits for a deletion.
final class HistoryTrimmer {
    /// The most rows of one piece, which bounds how long the next transaction waits.
    private static let pieceMax: Int64 = 512
    /// How many identifiers one piece looks at besides those that had a run: their runs grow old too.
    private static let sweepMax = 4
    private static let touchedMax = 1024

    var retention: SQLiteStore.Retention { didSet { isUnfinished = true } }
    private let statements: TrimStatements
    private var runDates: RowDates
    private var startDates: RowDates
    /// Whether the last piece left something to delete.
    ///
    /// A starting daemon does not know.
    private var isUnfinished = true
    /// The identifiers with own limits that had a run since the last piece.
    private var touched: Set<String> = []
    /// The identifier after which the next piece goes on to look for old runs.
    private var sweep = ""

    private var policy: HistoryPolicy { retention.policy }

    init(_ connection: Connection, _ retention: SQLiteStore.Retention) throws(SQLiteFailure) {
        self.retention = retention
        statements = try TrimStatements(connection)
        runDates = try RowDates("run", on: connection)
        startDates = try RowDates("start", on: connection)
    }

    /// Notes that a run of a task was added.
    func added(task: String) {
        guard policy.hasLimitsOfTasks, touched.count < Self.touchedMax,
            policy.limits(ofTask: task) != nil
        else { return }
        touched.insert(task)
    }

    func isDue(_ sizes: TableSizes) -> Bool {
        isUnfinished || sizes.runs.untrimmed >= retention.chunk
            || sizes.outputs.untrimmed >= retention.chunk
            || sizes.starts.untrimmed >= retention.chunk
    }

    /// Gives up until there are new rows, after a piece has failed.
    func postpone(_ sizes: inout TableSizes) {
        isUnfinished = false
        sizes.runs.untrimmed = 0
        sizes.outputs.untrimmed = 0
        sizes.starts.untrimmed = 0
    }

    /// Deletes one piece; call it in a transaction.
    func trim(_ sizes: inout TableSizes, _ look: AgeClock.Look) throws(SQLiteFailure) {
        postpone(&sizes)
        var isLeft = try trimRuns(&sizes, look)
        for task in touched {
            isLeft = try trim(task: task, &sizes, look) || isLeft
        }
        touched = []
        if policy.hasLimitsOfTasks { isLeft = try sweepTasks(&sizes, look) || isLeft }
        isLeft = try trimOutputs(&sizes) || isLeft
        isLeft = try trimStarts(&sizes, look) || isLeft
        try store(&sizes.runs, "run")
        try store(&sizes.outputs, "output")
        isUnfinished = isLeft
    }

    // MARK: Runs

    /// A row that may be deleted.
    private struct OldRow {
        let seq: Int64
        let at: Int64
        let bytes: Int64
        let output: Int64?
    }

    /// - Returns: whether another piece may find more.
    private func trimRuns(
        _ sizes: inout TableSizes,
        _ look: AgeClock.Look
    ) throws(SQLiteFailure) -> Bool {
        let oldest = look.oldest(policy.host.age)
        runDates.begin()
        let bytes = Int64(clamping: policy.host.bytes)
        let rows = try rows(statements.oldestRuns) { $0.add(Self.pieceMax) }
        for row in rows {
            // The newest row stays: its number is that from which the next ones are counted.
            guard row.seq < sizes.runs.last else { return false }
            if sizes.runs.rows <= Int64(policy.host.runs), sizes.runs.bytes <= bytes {
                let isOld = try runDates.isOld(row.seq, row.at, before: oldest, now: look.now)
                guard isOld else { return runDates.isUnfinished }
            }
            try delete(row, &sizes)
        }
        return rows.count == Self.pieceMax
    }

    private func trim(
        task: String,
        _ sizes: inout TableSizes,
        _ look: AgeClock.Look
    ) throws(SQLiteFailure) -> Bool {
        guard let limits = policy.limits(ofTask: task) else { return false }
        let oldest = limits.age.map { look.oldest($0) } ?? .min
        var excess = Int64.min
        if let most = limits.runs {
            try statements.runBeyond.rows({
                $0.add(task)
                $0.add(most)
            }) { row in
                excess = row.int()
                return false
            }
        }
        guard excess > .min || oldest > .min else { return false }
        let rows = try rows(statements.oldestRunsOfTask) {
            $0.add(task)
            $0.add(Self.pieceMax)
        }
        for (row, date) in zip(rows, Self.dates(of: rows, look.now)) {
            guard row.seq < sizes.runs.last, row.seq <= excess || date < oldest else {
                return false
            }
            try delete(row, &sizes)
        }
        return rows.count == Self.pieceMax
    }

    /// Looks at the next identifiers in the order of their names.
    private func sweepTasks(
        _ sizes: inout TableSizes,
        _ look: AgeClock.Look
    ) throws(SQLiteFailure) -> Bool {
        for _ in 0..<Self.sweepMax {
            var next: String?
            try statements.nextTask.rows({ $0.add(sweep) }) { row in
                next = row.text()
                return false
            }
            guard let next else {
                sweep = ""
                return false
            }
            // Look at it again if it has more than one piece.
            if try trim(task: next, &sizes, look) { return true }
            sweep = next
        }
        return false
    }

    private func delete(_ row: OldRow, _ sizes: inout TableSizes) throws(SQLiteFailure) {
        try statements.deleteRun.run { $0.add(row.seq) }
        sizes.runs.remove(bytes: row.bytes)
        guard let output = row.output, output < sizes.outputs.last else { return }
        var bytes: Int64?
        try statements.outputBytes.rows({ $0.add(output) }) { row in
            bytes = row.int()
            return false
        }
        guard let bytes else { return }
        try statements.deleteOutput.run { $0.add(output) }
        sizes.outputs.remove(bytes: bytes)
    }

    // MARK: Starts that did not happen

    private func trimStarts(
        _ sizes: inout TableSizes,
        _ look: AgeClock.Look
    ) throws(SQLiteFailure) -> Bool {
        let oldest = look.oldest(policy.host.age)
        startDates.begin()
        let rows = try rows(statements.oldestStarts) { $0.add(Self.pieceMax) }
        for row in rows {
            guard row.seq < sizes.starts.last else { return false }
            if sizes.starts.rows <= Int64(policy.host.runs) {
                let isOld = try startDates.isOld(row.seq, row.at, before: oldest, now: look.now)
                guard isOld else { return startDates.isUnfinished }
            }
            try statements.deleteStart.run { $0.add(row.seq) }
            sizes.starts.first = row.seq &+ 1
        }
        return rows.count == Self.pieceMax
    }

    // MARK: Output

    /// Deletes output beyond its budget: that of successful runs first, then that of the others.
    private func trimOutputs(_ sizes: inout TableSizes) throws(SQLiteFailure) -> Bool {
        let most = Int64(clamping: policy.host.outputBytes)
        guard sizes.outputs.bytes > most else { return false }
        for statement in [statements.oldestOutputsOfSuccess, statements.oldestOutputs] {
            let rows = try rows(statement) { $0.add(Self.pieceMax) }
            var deleted = 0
            for row in rows {
                guard sizes.outputs.bytes > most else { return false }
                // A number must not be used again: the row of another run has it.
                guard row.seq < sizes.outputs.last else { break }
                try statements.deleteOutput.run { $0.add(row.seq) }
                sizes.outputs.remove(bytes: row.bytes)
                deleted += 1
            }
            if deleted == Self.pieceMax { return true }
        }
        return false
    }

    // MARK: Rows

    private func rows(
        _ statement: Statement,
        _ bind: (inout Arguments) -> Void
    ) throws(SQLiteFailure) -> [OldRow] {
        var rows: [OldRow] = []
        try statement.rows(bind) { row in
            rows.append(
                OldRow(
                    seq: row.int(),
                    at: row.int(),
                    bytes: row.int(),
                    output: row.optionalInt()
                )
            )
            return true
        }
        return rows
    }

    /// Stores what the table lacks between its first and its last row, which a start cannot count.
    private func store(
        _ extent: inout TableSizes.Extent,
        _ table: String
    ) throws(SQLiteFailure) {
        guard extent.isChanged else { return }
        var first: (seq: Int64, start: Int64)?
        try (table == "run" ? statements.firstRun : statements.firstOutput).rows { row in
            first = (row.int(), row.int() &- row.int())
            return false
        }
        extent.settle(first: first?.seq, start: first?.start)
        try statements.keepExtent.run { row in
            row.add(table)
            row.add(extent.missing.rows)
            row.add(extent.missing.bytes)
        }
    }

    /// When rows were written at the latest; one that is dated after now is at least as old as a later one.
    private static func dates(of rows: [OldRow], _ now: Int64) -> [Int64] {
        var later = now
        let dates = rows.reversed().map { row in
            if row.at <= now { later = row.at }
            return later
        }
        return dates.reversed()
    }
}

/// The statements of the trimmer, prepared once.
struct TrimStatements {
    let oldestRuns: Statement
    let oldestRunsOfTask: Statement
    /// The newest run beyond a number of runs of a task.
    let runBeyond: Statement
    let nextTask: Statement
    let deleteRun: Statement
    let outputBytes: Statement
    let deleteOutput: Statement
    let oldestStarts: Statement
    let deleteStart: Statement
    let oldestOutputs: Statement
    let oldestOutputsOfSuccess: Statement
    let firstRun: Statement
    let firstOutput: Statement
    let keepExtent: Statement

    /// The size of a row as `ChangeWriter` counts it.
    static let runBytes = """
        (\(TableSizes.runOverhead) + length(CAST(task AS BLOB)) + length(CAST(plugin AS BLOB))
        + length(CAST(message AS BLOB)) + length(CAST(result AS BLOB)))
        """
    static let outputSize = "(\(TableSizes.outputOverhead) + length(CAST(lines AS BLOB)))"

    init(_ connection: Connection) throws(SQLiteFailure) {
        func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
            try Statement(sql, on: connection)
        }
        let run = "SELECT seq, at, \(Self.runBytes), output FROM run"
        let output = "SELECT seq, at, \(Self.outputSize), NULL FROM output"
        oldestRuns = try prepare("\(run) ORDER BY seq LIMIT ?")
        oldestRunsOfTask = try prepare("\(run) WHERE task = ? ORDER BY seq LIMIT ?")
        runBeyond = try prepare(
            "SELECT seq FROM run WHERE task = ? ORDER BY seq DESC LIMIT 1 OFFSET ?"
        )
        nextTask = try prepare("SELECT task FROM run WHERE task > ? ORDER BY task LIMIT 1")
        deleteRun = try prepare("DELETE FROM run WHERE seq = ?")
        outputBytes = try prepare("SELECT \(Self.outputSize) FROM output WHERE seq = ?")
        deleteOutput = try prepare("DELETE FROM output WHERE seq = ?")
        oldestOutputs = try prepare("\(output) ORDER BY seq LIMIT ?")
        oldestOutputsOfSuccess = try prepare("\(output) WHERE success = 1 ORDER BY seq LIMIT ?")
        firstRun = try prepare(
            "SELECT seq, size, \(Self.runBytes) FROM run ORDER BY seq LIMIT 1"
        )
        firstOutput = try prepare(
            "SELECT seq, size, \(Self.outputSize) FROM output ORDER BY seq LIMIT 1"
        )
        oldestStarts = try prepare("SELECT seq, at, 0, NULL FROM start ORDER BY seq LIMIT ?")
        deleteStart = try prepare("DELETE FROM start WHERE seq = ?")
        keepExtent = try prepare("INSERT OR REPLACE INTO extent VALUES (?, ?, ?)")
    }
}
