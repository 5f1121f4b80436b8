// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// Reads the sums of runs by task and day.
struct RunDayReader {
    /// A page ends, even empty, after so many rows.
    static let readMax = 20_000

    private let latestDay: Statement
    private let ofDay: Statement
    private let ofTask: Statement
    private let damaged: DamagedRows

    init(_ connection: Connection, _ damaged: DamagedRows) throws(SQLiteFailure) {
        self.damaged = damaged
        let rows = "SELECT \(RunDayColumns.names) FROM run_day WHERE day = ? AND number > ?"
        latestDay = try Statement(
            "SELECT day FROM run_day WHERE day <= ? ORDER BY day DESC LIMIT 1",
            on: connection
        )
        ofDay = try Statement("\(rows) ORDER BY number", on: connection)
        ofTask = try Statement("\(rows) AND task = ?", on: connection)
    }

    func page(_ query: RunDayQuery) throws(SQLiteFailure) -> RunDayPage {
        var page = RunDayPage()
        var until = min(query.days.upperBound, query.after?.day ?? .max)
        var read = 0
        while let day = try latestDay(until), day >= query.days.lowerBound {
            var after: Int64 = 0
            if let place = query.after, place.day == day { after = place.number }
            let (rows, count) = try rows(of: day, after: after, task: query.tasks?.task)
            read += count
            for row in rows {
                guard query.tasks?.matches(row.task) ?? true else { continue }
                guard page.add(row, limit: query.limit) else { return page }
            }
            guard day > .min else { break }
            guard read < Self.readMax else {
                page.next = RunDayQuery.Place(day: day, number: .max)
                break
            }
            until = day - 1
        }
        return page
    }

    private func latestDay(_ until: Int64) throws(SQLiteFailure) -> Int64? {
        var day: Int64?
        try latestDay.rows({ $0.add(until) }) { row in
            day = row.int()
            return false
        }
        return day
    }

    /// A day has `RunDay.tasksMax` rows and one at most; damaged ones are left out.
    ///
    /// - Returns: the rows, and how many were read.
    private func rows(
        of day: Int64,
        after number: Int64,
        task: String?
    ) throws(SQLiteFailure) -> (rows: [RunDay], count: Int) {
        var found: [RunDay] = []
        var count = 0
        try (task == nil ? ofDay : ofTask).rows({
            $0.add(day)
            $0.add(number)
            if let task { $0.add(task) }
        }) { row in
            let (sums, isIntact) = RunDayColumns.read(&row)
            count += 1
            if isIntact {
                found.append(sums)
            } else {
                damaged.found(RunDayColumns.damage(day, sums.task), "answers leave them out")
            }
            return true
        }
        return (found, count)
    }
}

extension SQLiteStore {
    package func runDays(_ query: RunDayQuery) -> RunDayPage {
        answer(RunDayPage()) { reader, _ throws(SQLiteFailure) in
            try reader.runDays.page(query)
        }
    }
}
