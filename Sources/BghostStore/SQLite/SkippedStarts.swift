// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The rows of starts that did not happen.
enum SkippedStartColumns {
    static let names = "task, kind, request, due, until, count, cause, cause_since, sum"
    static let count = 9

    static func bind(_ start: SkippedStart, to row: inout Arguments) {
        row.add(start.task)
        row.add(start.kind.rawValue)
        row.add(start.request)
        row.add(start.due)
        row.add(start.until)
        row.add(start.count)
        row.add(start.cause)
        row.add(start.causeSince)
        row.addSum()
    }

    /// - Returns: `nil` for a kind that only a newer version knows.
    static func read(_ row: inout Row) throws(SQLiteFailure) -> SkippedStart? {
        row.restartSum()
        let task = row.text()
        let kind = SkippedStart.Kind(rawValue: row.text())
        let request = try row.optionalID()
        let (due, until) = (row.int(), row.int())
        let count = Int(row.int())
        let cause = row.text()
        let causeSince = row.optionalInt()
        try row.checkSum("the starts that did not happen")
        return kind.map {
            SkippedStart(
                task: task,
                kind: $0,
                request: request,
                due: due,
                until: until,
                count: count,
                cause: cause,
                causeSince: causeSince
            )
        }
    }
}

/// Answers questions for starts that did not happen, on the read-only connection.
///
/// A page walks an index from the place where the page before it ended.
final class SkippedStartReader {
    private let all: Statement
    private let ofTask: Statement
    private let allOfDate: Statement
    private let ofTaskOfDate: Statement
    private let damaged: DamagedRows

    init(_ connection: Connection, _ damaged: DamagedRows) throws(SQLiteFailure) {
        self.damaged = damaged
        let select = "SELECT due, seq, task, kind, \(SkippedStartColumns.names) FROM start"
        let order = "due >= ? AND due < ? ORDER BY due DESC, seq DESC"
        // Many starts may have one due date, as after a night without power.
        let rest = "due = ? AND seq < ? ORDER BY seq DESC"
        func prepare(_ index: String, _ condition: String) throws(SQLiteFailure) -> Statement {
            try Statement("\(select) INDEXED BY \(index) WHERE \(condition)", on: connection)
        }
        all = try prepare("start_due", order)
        ofTask = try prepare("start_task", "task = ? AND \(order)")
        allOfDate = try prepare("start_due", rest)
        ofTaskOfDate = try prepare("start_task", "task = ? AND \(rest)")
    }

    /// The wanted rows, and the last row that was read if there may be more behind it.
    typealias Found = (
        rows: [(start: SkippedStart, number: Int64)], end: SkippedStartQuery.Place?
    )

    func starts(_ query: SkippedStartQuery) throws(SQLiteFailure) -> Found {
        var found: Found = ([], nil)
        guard query.limit > 0 else { return found }
        let (since, until) = (query.since ?? .min, query.until ?? .max)
        let task = query.tasks?.task
        var read = 0
        func take(_ row: inout Row) throws(SQLiteFailure) -> Bool {
            let place = SkippedStartQuery.Place(due: row.int(), number: row.int())
            let (name, kind) = (row.text(), row.text())
            if query.matches(task: name, kind: kind) {
                let start = try damaged.skipping("row \(place.number) of the skipped starts") {
                    () throws(SQLiteFailure) in try SkippedStartColumns.read(&row)
                }
                if let start { found.rows.append((start, place.number)) }
            }
            read += 1
            guard found.rows.count < query.limit, read < SkippedStartQuery.readMax else {
                found.end = place
                return false
            }
            return true
        }
        if let after = query.after, since <= after.due, after.due < until {
            try (task == nil ? allOfDate : ofTaskOfDate).rows(
                { row in
                    if let task { row.add(task) }
                    row.add(after.due)
                    row.add(after.number)
                },
                take
            )
        }
        guard found.end == nil else { return found }
        try (task == nil ? all : ofTask).rows(
            { row in
                if let task { row.add(task) }
                row.add(since)
                row.add(min(until, query.after?.due ?? .max))
            },
            take
        )
        return found
    }
}
