// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// Adds ended runs to the sums of their task and day, in the transaction of their end.
///
/// The same transaction writes the row of the run, so after a crash each run that is stored was added
/// once, and no other. Each end costs the same, however long the history is.
final class RunDayWriter {
    /// A row of the table.
    private struct Key: Hashable {
        var day: Int64
        var task: String
    }

    /// A greater number is damaged, and the next row must not continue from it.
    private static let numberMax = 2 * Int64(RunDay.tasksMax)

    /// The runs of this transaction by row, in the order of their first end.
    private var ended: [(key: Key, records: [RunRecord])] = []
    /// The places of the rows in `ended`.
    private var places: [Key: Int] = [:]
    /// The number of the last row of the day that was written last.
    private var last: (day: Int64, number: Int64)?
    /// The days that have rows, the earliest first; `nil` if they are not known.
    private var days: [Int64]?
    /// Whether nothing is deleted until there is another day, after an attempt has failed.
    private var isPostponed = false
    /// Of how many days rows are kept.
    var daysKept: Int { didSet { isPostponed = false } }

    private let find: Statement
    private let keep: Statement
    private let lastNumber: Statement
    private let nextDay: Statement
    private let delete: Statement
    private let deleteRow: Statement
    private let damaged: DamagedRows

    init(
        _ connection: Connection,
        daysKept: Int,
        _ damaged: DamagedRows
    ) throws(SQLiteFailure) {
        self.daysKept = daysKept
        self.damaged = damaged
        let marks = (1...RunDayColumns.count).map { "?\($0)" }.joined(separator: ", ")
        find = try Statement(
            "SELECT \(RunDayColumns.names) FROM run_day WHERE day = ? AND task = ?",
            on: connection
        )
        keep = try Statement(
            "INSERT OR REPLACE INTO run_day (\(RunDayColumns.names)) VALUES (\(marks))",
            on: connection
        )
        lastNumber = try Statement(
            "SELECT coalesce(max(number), 0) FROM run_day WHERE day = ? AND number < \(Self.numberMax)",
            on: connection
        )
        nextDay = try Statement(
            "SELECT day FROM run_day WHERE day >= ? ORDER BY day LIMIT 1",
            on: connection
        )
        delete = try Statement("DELETE FROM run_day WHERE day = ?", on: connection)
        deleteRow = try Statement(
            "DELETE FROM run_day WHERE day = ? AND task = ?",
            on: connection
        )
    }

    // MARK: Ends

    /// Forgets runs of a transaction that was not written.
    func begin() {
        guard !ended.isEmpty else { return }
        ended.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    /// Notes a run that ends in this transaction.
    ///
    /// - Parameter now: when it ended, if the record does not say it, Unix nanoseconds.
    func add(_ record: RunRecord, _ now: Int64) {
        let key = Key(day: RunDay.day(of: record.endedAt ?? now), task: record.task)
        if let place = places[key] {
            ended[place].records.append(record)
        } else {
            places[key] = ended.count
            ended.append((key, [record]))
        }
    }

    /// Writes the sums; call it at the end of the transaction.
    func write() throws(SQLiteFailure) {
        for (key, records) in ended {
            var row = try row(key.day, key.task)
            for record in records { row.add(record) }
            try keep.run { RunDayColumns.bind(row, to: &$0) }
        }
    }

    /// Forgets what is known of the table, after a transaction was rolled back.
    func forget() {
        (last, days) = (nil, nil)
        begin()
    }

    private func row(_ day: Int64, _ task: String) throws(SQLiteFailure) -> RunDay {
        if let row = try stored(day, task) { return row }
        let number = try last(of: day)
        guard number >= RunDay.tasksMax else { return noted(RunDay(day: day, task: task), number) }
        if let others = try stored(day, "") { return others }
        return noted(RunDay(day: day, task: ""), try last(of: day))
    }

    private func noted(_ row: RunDay, _ number: Int64) -> RunDay {
        var row = row
        row.number = number &+ 1
        last = (row.day, row.number)
        if number == 0 {
            // After a failed attempt the days are not known.
            isPostponed = false
            if let days, !days.contains(row.day) { self.days = (days + [row.day]).sorted() }
        }
        return row
    }

    /// The stored sums; `nil` if there are none, or if they were damaged and are deleted.
    private func stored(_ day: Int64, _ task: String) throws(SQLiteFailure) -> RunDay? {
        var found: (day: RunDay, isIntact: Bool)?
        try find.rows({
            $0.add(day)
            $0.add(task)
        }) { row in
            found = RunDayColumns.read(&row)
            return false
        }
        guard let found, !found.isIntact else { return found?.day }
        // No decision depends on sums, so the outcome of the run must be stored without them.
        try deleteRow.run {
            $0.add(day)
            $0.add(task)
        }
        damaged.found(RunDayColumns.damage(day, task), "they begin anew with this run")
        return nil
    }

    private func last(of day: Int64) throws(SQLiteFailure) -> Int64 {
        if let last, last.day == day { return last.number }
        var number: Int64 = 0
        try lastNumber.rows({ $0.add(day) }) { row in
            number = row.int()
            return false
        }
        return number
    }

    // MARK: Retention

    /// Whether rows may have to be deleted.
    ///
    /// Days are counted and not compared with the clock to find how many go: a clock that is wrong for a while
    /// deletes nothing but one day for each that it adds.
    var isTrimDue: Bool { !isPostponed && (days == nil || (days?.count ?? 0) > daysKept) }

    /// Deletes a day, if there are too many; call it in a transaction.
    ///
    /// It is the earliest one, unless there are days after tomorrow: a clock that was ahead has left them, and
    /// as the latest ones they would stay until that time has come. The day that is being written stays.
    func trim(now: Int64) throws(SQLiteFailure) {
        var days: [Int64]
        if let known = self.days { days = known } else { days = try readDays() }
        let tomorrow = RunDay.day(of: now) + 1
        if days.count > daysKept, !days.isEmpty {
            let place = days.firstIndex { $0 > tomorrow && $0 != last?.day } ?? days.startIndex
            let day = days.remove(at: place)
            try delete.run { $0.add(day) }
            if last?.day == day { last = nil }
        }
        self.days = days
    }

    /// Gives up until there is another day, after an attempt has failed.
    func postponeTrim() {
        forget()
        isPostponed = true
    }

    /// One search of the index for each day.
    private func readDays() throws(SQLiteFailure) -> [Int64] {
        var found: [Int64] = []
        var from = Int64.min
        var isFound = true
        while isFound {
            isFound = false
            try nextDay.rows({ $0.add(from) }) { row in
                found.append(row.int())
                isFound = true
                return false
            }
            guard let day = found.last, day < .max else { break }
            from = day + 1
        }
        return found
    }
}
