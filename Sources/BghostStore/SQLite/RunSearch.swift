// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The statement that answers a question for runs.
///
/// Every statement walks one index in the order of the run numbers, so that a page costs the rows that
/// it has. Conditions that no index answers are checked for at most `RunQuery.readMax` rows.
struct RunSearch {
    enum Value {
        case number(Int64)
        case text(String)
        case id(RunID)
    }

    /// Selects the runs of the page: their numbers and columns; with ``tagged`` the numbers and tasks of all runs
    /// that may be among them.
    let sql: String
    /// The tasks whose runs the page has, which no condition of `sql` tests; `nil` for all tasks.
    ///
    /// In SQL each row would be compared with each family that has the tag: 20,000 rows took 1.1 s with 100
    /// families and 10 s with 1,000. ``TaggedTasks/contains(_:)`` costs a lookup for each dot: 0.2 s with 1,000
    /// families, in a debug build.
    let tagged: TaggedTasks?
    let values: [Value]
    /// Selects the number and the end of the last row that `sql` may read, if it reads more than it
    /// selects.
    let end: (sql: String, values: [Value])?

    /// The shortest beginning of an id that has the whole time of its start, in milliseconds, so that
    /// few runs share it.
    private static let selectiveIDLength = 10

    /// - Parameters:
    ///   - low: the run has a greater number.
    ///   - high: the run has a smaller number.
    ///   - ids: the ids that begin like the filter says; `nil` without such a condition.
    init(_ query: RunQuery, low: Int64, high: Int64, ids: ClosedRange<RunID>?) {
        let filter = query.filter
        let walk = Walk(filter, ids: ids, low: low, high: high)
        tagged = filter.tagged
        // Large columns of runs of other tasks stay unread.
        let columns = tagged == nil ? "run.seq, \(RunColumns.readNames())" : "run.seq, run.task"
        guard !walk.rest.isEmpty || walk.isByID || tagged != nil else {
            sql = "SELECT \(columns) FROM \(walk.from) ORDER BY seq DESC LIMIT ?"
            values = walk.values + [.number(Int64(query.limit))]
            end = nil
            return
        }
        let most = RunQuery.readMax
        let some = "SELECT seq FROM \(walk.from) ORDER BY \(walk.isByID ? "id" : "seq") DESC"
        let rest = walk.rest.isEmpty ? "" : " WHERE " + walk.rest.joined(separator: " AND ")
        // The outer loop is the walk, so its order is that of the result, without a sort. Few runs
        // have the same beginning of their ids.
        let order = walk.isByID ? " ORDER BY run.seq DESC" : ""
        sql = """
            SELECT \(columns) FROM (\(some) LIMIT \(most)) AS some CROSS JOIN run ON run.seq = some.seq\
            \(rest)\(order) LIMIT ?
            """
        let limit = tagged == nil ? query.limit : most
        values = walk.values + walk.restValues + [.number(Int64(limit))]
        end = (
            """
            SELECT run.seq, coalesce(ended_at, at) FROM (\(some) LIMIT 1 OFFSET \(most - 1)) AS some \
            CROSS JOIN run ON run.seq = some.seq
            """, walk.values
        )
    }

    /// The rows that an index selects, and the conditions that are left.
    private struct Walk {
        var from: String
        var values: [Value] = []
        var rest: [String] = []
        var restValues: [Value] = []
        var isByID = false

        init(_ filter: RunFilter, ids: ClosedRange<RunID>?, low: Int64, high: Int64) {
            var conditions: [String] = []
            var isFailed = false
            var codes: [Int64] = []
            switch filter.state {
            case nil, .running: break
            case .unsuccessful: isFailed = true
            case .outcome(let word):
                codes = RunColumns.codes(of: word)
                isFailed = word != .succeeded
            }
            let range = ids.flatMap { _ in filter.idPrefix?.utf8.count ?? 0 }
            let index: String?
            if let ids, let range, range >= RunSearch.selectiveIDLength {
                isByID = true
                index = "run_id"
                conditions += ["id >= ?", "id <= ?"]
                values += [.id(ids.lowerBound), .id(ids.upperBound)]
            } else {
                index = Self.index(filter, isFailed: isFailed)
                if isFailed { conditions.append("outcome <> 0") }
                if let task = filter.task {
                    conditions.append("task = ?")
                    values.append(.text(task))
                } else if let plugin = filter.plugin {
                    conditions.append("plugin = ?")
                    values.append(.text(plugin))
                }
                if let ids {
                    rest += ["id >= ?", "id <= ?"]
                    restValues += [.id(ids.lowerBound), .id(ids.upperBound)]
                }
            }
            conditions += ["seq > ?", "seq < ?"]
            values += [.number(low), .number(high)]
            from = "run" + (index.map { " INDEXED BY \($0)" } ?? "")
            from += " WHERE " + conditions.joined(separator: " AND ")
            if isByID {
                if isFailed { rest.append("outcome <> 0") }
                add("task = ?", filter.task.map { .text($0) })
            }
            if isByID || filter.task != nil {
                add("plugin = ?", filter.plugin.map { .text($0) })
            }
            if !codes.isEmpty {
                rest.append("outcome IN (\(codes.map(String.init).joined(separator: ", ")))")
            }
            add("coalesce(ended_at, at) >= ?", filter.since.map { .number($0) })
            add("coalesce(ended_at, at) < ?", filter.until.map { .number($0) })
            add("instr(lower(message), lower(?)) > 0", filter.text.map { .text($0) })
            add("submitter_run = ?", filter.submitterRun.map { .id($0) })
        }

        private mutating func add(_ condition: String, _ value: Value?) {
            guard let value else { return }
            rest.append(condition)
            restValues.append(value)
        }

        private static func index(_ filter: RunFilter, isFailed: Bool) -> String? {
            if filter.task != nil { return isFailed ? "run_failed_task" : "run_task" }
            if filter.plugin != nil { return isFailed ? "run_failed_plugin" : "run_plugin" }
            return isFailed ? "run_failed" : nil
        }
    }
}

extension Arguments {
    mutating func add(_ value: RunSearch.Value) {
        switch value {
        case .number(let number): add(number)
        case .text(let text): add(text)
        case .id(let id): add(id)
        }
    }
}

/// Answers questions for pages of runs, on the read-only connection.
final class RunPages {
    private let connection: Connection
    private let damaged: DamagedRows
    private let ends: Statement
    private let time: Statement
    private let fromTime: Statement
    private let one: Statement
    /// By their SQL; there are as many as combinations of conditions.
    private var prepared: [String: Statement] = [:]

    init(_ connection: Connection, _ damaged: DamagedRows) throws(SQLiteFailure) {
        self.connection = connection
        self.damaged = damaged
        ends = try Statement(
            "SELECT (SELECT min(seq) FROM run), (SELECT max(seq) FROM run)",
            on: connection
        )
        time = try Statement(
            "SELECT coalesce(ended_at, at) FROM run WHERE seq >= ? ORDER BY seq LIMIT 1",
            on: connection
        )
        one = try Statement(
            "SELECT \(RunColumns.readNames()) FROM run WHERE seq = ?",
            on: connection
        )
        fromTime = try Statement(
            """
            SELECT run.seq, \(RunColumns.readNames()) FROM run INDEXED BY run_task
            WHERE task = ? AND seq > ? AND coalesce(ended_at, at) >= ? ORDER BY seq LIMIT ?
            """,
            on: connection
        )
    }

    /// Adds a row of a search to its page, if its task has the tag and it is not damaged.
    ///
    /// - Returns: the number of the row if the limit of the page counts it.
    private func add(
        _ row: inout Row,
        of search: RunSearch,
        to page: inout RunPage
    ) throws(SQLiteFailure) -> Int64? {
        let number = row.int()
        guard let tagged = search.tagged else {
            if let record = try record(&row, number) {
                page.entries.append(.init(record, number: number))
            }
            return number
        }
        guard tagged.contains(row.text()) else { return nil }
        var record: RunRecord?
        // The search is open, so this reads the same state of the file. A number needs no room in the buffer where
        // the texts of the search are.
        try one.rows({ $0.add(number) }) { row throws(SQLiteFailure) in
            record = try self.record(&row, number)
            return false
        }
        if let record { page.entries.append(.init(record, number: number)) }
        return number
    }

    /// - Returns: `nil` if the row is damaged.
    private func record(_ row: inout Row, _ number: Int64) throws(SQLiteFailure) -> RunRecord? {
        try damaged.skipping("row \(number) of the runs") { () throws(SQLiteFailure) in
            try RunColumns.read(&row)
        }
    }

    func page(_ query: RunQuery) throws(SQLiteFailure) -> RunPage {
        // Runs that end while this is read have greater numbers.
        var (low, high) = try bounds()
        var page = RunPage(newest: high &- 1)
        guard low < high &- 1, query.limit > 0 else { return page }
        low = max(low, query.after ?? .min)
        high = min(high, query.before ?? .max)
        var ids: ClosedRange<RunID>?
        if let prefix = query.filter.idPrefix {
            guard let range = RunIDRange.ids(beginningWith: prefix) else { return page }
            ids = range
        }
        try narrow(&low, &high, query.filter)
        guard low < high &- 1 else { return page }
        let search = RunSearch(query, low: low, high: high, ids: ids)
        // A damaged row counts, too: otherwise the page would look like the last one.
        var (rows, last) = (0, Int64?.none)
        try statement(search.sql).rows({ row in
            for value in search.values { row.add(value) }
        }) { row throws(SQLiteFailure) in
            if let number = try add(&row, of: search, to: &page) {
                rows += 1
                last = number
            }
            return rows < query.limit
        }
        guard rows < query.limit else {
            page.next = last
            return page
        }
        guard let end = search.end else { return page }
        try statement(end.sql).rows({ row in for value in end.values { row.add(value) } }) { row in
            page.next = row.int()
            page.searchedTo = row.int()
            return false
        }
        return page
    }

    /// The runs of a task that ended at a time or later, the oldest first.
    func runs(
        task: String,
        endedFrom date: Int64,
        limit: Int
    ) throws(SQLiteFailure) -> [RunRecord] {
        var (low, high) = try bounds()
        try narrow(&low, &high, RunFilter(since: date))
        var records: [RunRecord] = []
        try fromTime.rows({ row in
            row.add(task)
            row.add(low)
            row.add(date)
            row.add(limit)
        }) { row throws(SQLiteFailure) in
            let number = row.int()
            if let record = try record(&row, number) { records.append(record) }
            return true
        }
        return records
    }

    func oldestEnd() throws(SQLiteFailure) -> Int64? {
        var end: Int64?
        try time.rows({ $0.add(Int64.min) }) { row in
            end = row.int()
            return false
        }
        return end
    }

    /// The numbers before the first run and after the last one.
    private func bounds() throws(SQLiteFailure) -> (low: Int64, high: Int64) {
        var (first, last): (Int64, Int64) = (1, 0)
        try ends.rows { row in
            first = row.optionalInt() ?? 1
            last = row.optionalInt() ?? 0
            return false
        }
        return (first &- 1, last &+ 1)
    }

    /// The text of a plan, for tests.
    func plan(_ search: RunSearch) throws(SQLiteFailure) -> [String] {
        var lines: [String] = []
        let explain = try Statement("EXPLAIN QUERY PLAN " + search.sql, on: connection)
        try explain.rows({ row in for value in search.values { row.add(value) } }) { row in
            for _ in 0..<3 { row.skip() }
            lines.append(row.text())
            return true
        }
        return lines
    }

    private func statement(_ sql: String) throws(SQLiteFailure) -> Statement {
        if let known = prepared[sql] { return known }
        let statement = try Statement(sql, on: connection)
        prepared[sql] = statement
        return statement
    }

    // MARK: Times

    /// How far an end may be out of order among the numbers: clocks are corrected by a little.
    private static let disorder: Int64 = 1000

    /// Narrows a range of numbers to that of the wanted times, where it is long.
    ///
    /// Ends are stored in the order of their times, unless the clock is set back. Then the range of a
    /// long history may lack runs of the times that came twice.
    private func narrow(
        _ low: inout Int64,
        _ high: inout Int64,
        _ filter: RunFilter
    ) throws(SQLiteFailure) {
        guard high &- low > Int64(RunQuery.readMax) else { return }
        let bounds = low..<high
        if let since = filter.since {
            low = max(low, try number(of: since, in: bounds) &- 1 &- Self.disorder)
        }
        if let until = filter.until {
            high = min(high, try number(of: until, in: bounds) &+ Self.disorder)
        }
    }

    /// The first number whose run ended at a time or later.
    private func number(of date: Int64, in bounds: Range<Int64>) throws(SQLiteFailure) -> Int64 {
        var (low, high) = (bounds.lowerBound, bounds.upperBound)
        while high &- low > 1 {
            let middle = low &+ (high &- low) / 2
            var isBefore = false
            try time.rows({ $0.add(middle) }) { row in
                isBefore = row.int() < date
                return false
            }
            if isBefore { low = middle } else { high = middle }
        }
        return high
    }
}
