// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Answers queries from the committed data, on the read-only connection.
///
/// In WAL mode it sees the last commit and waits for no sync.
///
/// `@unchecked`: its statements belong to the connection, and the store uses both under one lock.
final class StoreReader: @unchecked Sendable {
    let connection: Connection
    private let allRuns: Statement
    private let runsOfTask: Statement
    let lastRuns: Statement
    private let runsByID: Statement
    private let runsOfRequest: Statement
    private let place: Statement
    private let deadLetters: Statement
    private let deadLettersOfTask: Statement
    private let output: Statement
    let pages: RunPages
    let skipped: SkippedStartReader
    let letters: DeadLetterReader
    let audit: AuditReader
    let checkpoints: CheckpointReader
    let runDays: RunDayReader
    private let damaged: DamagedRows

    init(_ connection: Connection, _ damaged: DamagedRows) throws(SQLiteFailure) {
        self.connection = connection
        self.damaged = damaged
        pages = try RunPages(connection, damaged)
        skipped = try SkippedStartReader(connection, damaged)
        letters = try DeadLetterReader(connection, damaged)
        audit = try AuditReader(connection)
        checkpoints = try CheckpointReader(connection)
        runDays = try RunDayReader(connection, damaged)
        func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
            try Statement(sql, on: connection)
        }
        let runs = "SELECT run.seq, \(RunColumns.readNames()) FROM run"
        let newest = "ORDER BY seq DESC"
        allRuns = try prepare("\(runs) \(newest)")
        runsOfTask = try prepare("\(runs) WHERE task = ? \(newest)")
        // One run for a part of the tasks, and a search of the index for each of them.
        let names = Array(repeating: "(?)", count: SQLiteStore.lastRunsMax).joined(separator: ", ")
        lastRuns = try prepare(
            """
            WITH wanted(name) AS (VALUES \(names)) SELECT run.seq, \(RunColumns.readNames())
            FROM wanted CROSS JOIN run ON run.seq = (SELECT max(seq) FROM run WHERE task = wanted.name)
            """
        )
        runsByID = try prepare("\(runs) WHERE id >= ? AND id <= ? \(newest) LIMIT ?")
        runsOfRequest = try prepare("\(runs) WHERE request = ? \(newest)")
        place = try prepare(
            """
            SELECT died_at IS NOT NULL, lease.id, lease.epoch FROM request
            LEFT JOIN lease ON lease.request = request.id WHERE request.id = ?
            """
        )
        let letters = """
            SELECT \(RequestColumns.names), \(RequestColumns.placeNames) FROM request
            WHERE died_at IS NOT NULL
            """
        let newestLetters = "ORDER BY died_at DESC, dead_run DESC"
        deadLetters = try prepare("\(letters) \(newestLetters)")
        deadLettersOfTask = try prepare("\(letters) AND task = ? \(newestLetters)")
        output = try prepare(
            "SELECT lines, sum FROM output WHERE seq = (SELECT output FROM run WHERE id = ?)"
        )
    }

    func runs(task: String?, limit: Int) throws(SQLiteFailure) -> [RunRecord] {
        guard let task else { return try read(allRuns, limit) { _ in } }
        return try read(runsOfTask, limit) { $0.add(task) }
    }

    /// The newest run of each of some tasks.
    func lastRuns(tasks: [String]) throws(SQLiteFailure) -> [String: RunRecord] {
        var last: [String: RunRecord] = [:]
        var rest = tasks[...]
        while !rest.isEmpty {
            let part = rest.prefix(SQLiteStore.lastRunsMax)
            rest = rest.dropFirst(part.count)
            var rows = 0
            let runs = try read(lastRuns, .max, rows: &rows) { arguments in
                for task in part { arguments.add(task) }
                for _ in part.count..<SQLiteStore.lastRunsMax { arguments.addNull() }
            }
            for run in runs { last[run.task] = run }
            guard rows > runs.count else { continue }
            // The newest run of one of the others is damaged.
            for task in part where last[task] == nil {
                last[task] = try self.runs(task: task, limit: 1).first
            }
        }
        return last
    }

    func runs(ids: ClosedRange<RunID>, limit: Int) throws(SQLiteFailure) -> [RunRecord] {
        try read(runsByID, limit) {
            $0.add(ids.lowerBound)
            $0.add(ids.upperBound)
            $0.add(limit)
        }
    }

    func runs(ofRequest id: RunID, limit: Int) throws(SQLiteFailure) -> [RunRecord] {
        try read(runsOfRequest, limit) { $0.add(id) }
    }

    /// The output of a run, or "".
    func output(of id: RunID) throws(SQLiteFailure) -> String {
        var found = ""
        try output.rows({ $0.add(id) }) { row throws(SQLiteFailure) in
            let lines = row.text()
            found =
                try damaged.skipping("the output of the run \(id)") { () throws(SQLiteFailure) in
                    try row.checkSum("what runs printed")
                    return lines
                } ?? ""
            return false
        }
        return found
    }

    func place(of id: RunID) throws(SQLiteFailure) -> StoredPlace {
        var found = StoredPlace.absent
        try place.rows({ $0.add(id) }) { row throws(SQLiteFailure) in
            let isDead = row.int() != 0
            let run = try row.optionalID()
            let epoch = row.optionalInt().map { UInt64(bitPattern: $0) }
            if isDead {
                found = .dead
            } else if let run, let epoch {
                found = .leased(run, epoch: epoch)
            } else {
                found = .pending
            }
            return false
        }
        return found
    }

    func deadLetters(task: String?, limit: Int) throws(SQLiteFailure) -> [DeadLetter] {
        var letters: [DeadLetter] = []
        func take(_ row: inout Row) throws(SQLiteFailure) -> Bool {
            let letter = try damaged.skipping("a dead request") { () throws(SQLiteFailure) in
                try RequestColumns.read(&row).dead
            }
            if let letter { letters.append(letter) }
            return letters.count < limit
        }
        guard limit > 0 else { return [] }
        if let task {
            try deadLettersOfTask.rows({ $0.add(task) }, take)
        } else {
            try deadLetters.rows({ _ in }, take)
        }
        return letters
    }

    private func read(
        _ statement: Statement,
        _ limit: Int,
        _ bind: (inout Arguments) -> Void
    ) throws(SQLiteFailure) -> [RunRecord] {
        var rows = 0
        return try read(statement, limit, rows: &rows, bind)
    }

    /// Reads runs until there are enough that are not damaged.
    ///
    /// - Parameter rows: counts the rows, also the damaged ones.
    private func read(
        _ statement: Statement,
        _ limit: Int,
        rows: inout Int,
        _ bind: (inout Arguments) -> Void
    ) throws(SQLiteFailure) -> [RunRecord] {
        var records: [RunRecord] = []
        guard limit > 0 else { return records }
        try statement.rows(bind) { row throws(SQLiteFailure) in
            rows += 1
            let number = row.int()
            let record = try damaged.skipping("row \(number) of the runs") {
                () throws(SQLiteFailure) in
                try RunColumns.read(&row)
            }
            if let record { records.append(record) }
            return records.count < limit
        }
        return records
    }
}
