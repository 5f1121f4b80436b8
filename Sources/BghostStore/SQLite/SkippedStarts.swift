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
final class SkippedStartReader {
    private let all: Statement
    private let ofTask: Statement

    init(_ connection: Connection) throws(SQLiteFailure) {
        let select = "SELECT \(SkippedStartColumns.names) FROM start"
        let order = "due >= ? AND due < ? ORDER BY due DESC, seq DESC LIMIT ?"
        all = try Statement("\(select) INDEXED BY start_due WHERE \(order)", on: connection)
        ofTask = try Statement(
            "\(select) INDEXED BY start_task WHERE task = ? AND \(order)",
            on: connection
        )
    }

    func starts(_ query: SkippedStartQuery) throws(SQLiteFailure) -> [SkippedStart] {
        var starts: [SkippedStart] = []
        try (query.task == nil ? all : ofTask).rows({ row in
            if let task = query.task { row.add(task) }
            row.add(query.since ?? .min)
            row.add(query.until ?? .max)
            row.add(query.limit)
        }) { row throws(SQLiteFailure) in
            if let start = try SkippedStartColumns.read(&row) { starts.append(start) }
            return true
        }
        return starts
    }
}
