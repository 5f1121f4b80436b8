// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostPolicy

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

    init(_ connection: Connection, _ damaged: DamagedRows) throws(SQLiteFailure) {
        self.connection = connection
        pages = try RunPages(connection)
        skipped = try SkippedStartReader(connection)
        letters = try DeadLetterReader(connection)
        audit = try AuditReader(connection)
        checkpoints = try CheckpointReader(connection)
        runDays = try RunDayReader(connection, damaged)
        func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
            try Statement(sql, on: connection)
        }
        let runs = "SELECT \(RunColumns.readNames()) FROM run"
        let newest = "ORDER BY seq DESC LIMIT"
        allRuns = try prepare("\(runs) \(newest) ?")
        runsOfTask = try prepare("\(runs) WHERE task = ? \(newest) ?")
        // One run for a part of the tasks, and a search of the index for each of them.
        let names = Array(repeating: "(?)", count: SQLiteStore.lastRunsMax).joined(separator: ", ")
        lastRuns = try prepare(
            """
            WITH wanted(name) AS (VALUES \(names)) SELECT \(RunColumns.readNames())
            FROM wanted CROSS JOIN run ON run.seq = (SELECT max(seq) FROM run WHERE task = wanted.name)
            """
        )
        runsByID = try prepare("\(runs) WHERE id >= ? AND id <= ? \(newest) ?")
        runsOfRequest = try prepare("\(runs) WHERE request = ? \(newest) ?")
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
        let newestLetters = "ORDER BY died_at DESC, dead_run DESC LIMIT ?"
        deadLetters = try prepare("\(letters) \(newestLetters)")
        deadLettersOfTask = try prepare("\(letters) AND task = ? \(newestLetters)")
        output = try prepare(
            "SELECT lines, sum FROM output WHERE seq = (SELECT output FROM run WHERE id = ?)"
        )
    }

    func runs(task: String?, limit: Int) throws(SQLiteFailure) -> [RunRecord] {
        guard let task else { return try read(allRuns) { $0.add(limit) } }
        return try read(runsOfTask) {
            $0.add(task)
            $0.add(limit)
        }
    }

    /// The newest run of each of some tasks.
    func lastRuns(tasks: [String]) throws(SQLiteFailure) -> [String: RunRecord] {
        var last: [String: RunRecord] = [:]
        var rest = tasks[...]
        while !rest.isEmpty {
            let part = rest.prefix(SQLiteStore.lastRunsMax)
            rest = rest.dropFirst(part.count)
            let runs = try read(lastRuns) { arguments in
                for task in part { arguments.add(task) }
                for _ in part.count..<SQLiteStore.lastRunsMax { arguments.addNull() }
            }
            for run in runs { last[run.task] = run }
        }
        return last
    }

    func runs(ids: ClosedRange<RunID>, limit: Int) throws(SQLiteFailure) -> [RunRecord] {
        try read(runsByID) {
            $0.add(ids.lowerBound)
            $0.add(ids.upperBound)
            $0.add(limit)
        }
    }

    func runs(ofRequest id: RunID, limit: Int) throws(SQLiteFailure) -> [RunRecord] {
        try read(runsOfRequest) {
            $0.add(id)
            $0.add(limit)
        }
    }

    /// The output of a run, or "".
    func output(of id: RunID) throws(SQLiteFailure) -> String {
        var found = ""
        try output.rows({ $0.add(id) }) { row throws(SQLiteFailure) in
            found = row.text()
            try row.checkSum("what runs printed")
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
            if let letter = try RequestColumns.read(&row).dead { letters.append(letter) }
            return true
        }
        if let task {
            try deadLettersOfTask.rows(
                {
                    $0.add(task)
                    $0.add(limit)
                },
                take
            )
        } else {
            try deadLetters.rows({ $0.add(limit) }, take)
        }
        return letters
    }

    private func read(
        _ statement: Statement,
        _ bind: (inout Arguments) -> Void
    ) throws(SQLiteFailure) -> [RunRecord] {
        var records: [RunRecord] = []
        try statement.rows(bind) { row throws(SQLiteFailure) in
            records.append(try RunColumns.read(&row))
            return true
        }
        return records
    }
}
