// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The rows of the sums of runs by task and day.
enum RunDayColumns {
    /// The version of the store that brought the table: the migration's place in the list.
    static let version: Int32 = 16

    static let migration = """
        CREATE TABLE run_day (
            day INTEGER NOT NULL,
            task TEXT NOT NULL,
            number INTEGER NOT NULL,
            succeeded INTEGER NOT NULL,
            failed INTEGER NOT NULL,
            cancelled INTEGER NOT NULL,
            killed INTEGER NOT NULL,
            crashed INTEGER NOT NULL,
            lost INTEGER NOT NULL,
            abandoned INTEGER NOT NULL,
            runtime INTEGER NOT NULL,
            cpu INTEGER NOT NULL,
            longest INTEGER NOT NULL,
            sum INTEGER NOT NULL,
            PRIMARY KEY (day, task)
        ) STRICT, WITHOUT ROWID;
        """

    static let names = """
        day, task, number, succeeded, failed, cancelled, killed, crashed, lost, abandoned, runtime,
        cpu, longest, sum
        """
    static let count = 14

    static func bind(_ row: RunDay, to arguments: inout Arguments) {
        arguments.add(row.day)
        arguments.add(row.task)
        arguments.add(row.number)
        arguments.add(row.counts.succeeded)
        arguments.add(row.counts.failed)
        arguments.add(row.counts.cancelled)
        arguments.add(row.counts.killed)
        arguments.add(row.counts.crashed)
        arguments.add(row.counts.lost)
        arguments.add(row.counts.abandoned)
        arguments.add(row.runtime)
        arguments.add(row.cpu)
        arguments.add(row.longest)
        arguments.addSum()
    }

    /// - Returns: the row, and whether its checksum is right.
    static func read(_ row: inout Row) -> (day: RunDay, isIntact: Bool) {
        row.restartSum()
        var found = RunDay(day: row.int(), task: row.text(), number: row.int())
        found.counts.succeeded = row.int()
        found.counts.failed = row.int()
        found.counts.cancelled = row.int()
        found.counts.killed = row.int()
        found.counts.crashed = row.int()
        found.counts.lost = row.int()
        found.counts.abandoned = row.int()
        found.runtime = row.int()
        found.cpu = row.int()
        found.longest = row.int()
        return (found, row.hasRightSum())
    }

    /// Names a damaged row in the log.
    static func damage(_ day: Int64, _ task: String) -> String {
        let what = task.isEmpty ? "all other tasks" : "task `\(task.prefix(200))`"
        return "the sums of runs of \(what) on \(RunDay.text(ofDay: day)) are damaged"
    }
}
