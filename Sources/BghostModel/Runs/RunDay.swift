// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The sums of the runs of one task that ended on one day of UTC.
///
/// They stay when the runs are deleted.
package struct RunDay: Equatable, Sendable {
    /// How many tasks of one day have sums of their own; the runs of further ones are in one more row,
    /// whose task is "".
    package static let tasksMax = 1000

    /// The number of runs by outcome, without the reasons.
    package struct Counts: Equatable, Sendable {
        package var succeeded: Int64 = 0
        package var failed: Int64 = 0
        /// Cancelled, and ended within their grace.
        package var cancelled: Int64 = 0
        package var killed: Int64 = 0
        package var crashed: Int64 = 0
        package var lost: Int64 = 0
        package var abandoned: Int64 = 0

        package init() {}

        package var all: Int64 {
            [succeeded, failed, cancelled, killed, crashed, lost, abandoned]
                .reduce(0) { $0.addingClamped($1) }
        }

        fileprivate mutating func add(_ outcome: Outcome?) {
            switch outcome {
            case .succeeded: succeeded = succeeded.addingClamped(1)
            case .failed: failed = failed.addingClamped(1)
            case .cancelledClean: cancelled = cancelled.addingClamped(1)
            case .killed: killed = killed.addingClamped(1)
            case .crashed: crashed = crashed.addingClamped(1)
            case .lost: lost = lost.addingClamped(1)
            case .abandoned: abandoned = abandoned.addingClamped(1)
            case nil: break
            }
        }
    }

    /// Days since 1970-01-01, of UTC.
    package var day: Int64
    /// "" for the tasks beyond `tasksMax`.
    package var task: String
    /// The place in the order in which the tasks of the day had their first end, from 1.
    package var number: Int64
    package var counts = Counts()
    /// The sum of the times from the starts of the handlers to the ends of the runs, nanoseconds.
    package var runtime: Int64 = 0
    /// The sum of the processor time, as far as it was measured, nanoseconds.
    package var cpu: Int64 = 0
    /// The time of the longest run, nanoseconds.
    package var longest: Int64 = 0

    package init(day: Int64, task: String, number: Int64 = 0) {
        self.day = day
        self.task = task
        self.number = number
    }

    /// Adds a run that has ended.
    package mutating func add(_ record: RunRecord) {
        counts.add(record.outcome)
        let time = Self.nanoseconds(record.duration)
        runtime = runtime.addingClamped(time)
        longest = max(longest, time)
        cpu = cpu.addingClamped(Self.nanoseconds(record.usage.cpu))
    }

    private static func nanoseconds(_ duration: Duration?) -> Int64 {
        Int64(clamping: duration?.clampedNanoseconds ?? 0)
    }

    private static let length: Int64 = 86_400_000_000_000

    /// The day of a time.
    ///
    /// - Parameter time: Unix nanoseconds.
    package static func day(of time: Int64) -> Int64 {
        time / length - (time % length < 0 ? 1 : 0)
    }

    /// The day as `2026-11-21`.
    package static func text(ofDay day: Int64) -> String {
        let (time, isOverflow) = day.multipliedReportingOverflow(by: length)
        let limit: Int64 = day < 0 ? .min : .max
        return String(Timestamp.text(unixNanoseconds: isOverflow ? limit : time).prefix(10))
    }

    /// Reads the text of a day.
    package static func day(from text: String) -> Int64? {
        guard text.utf8.count == 10 else { return nil }
        return Timestamp.unixNanoseconds(text + "T00:00:00Z").map { day(of: $0) }
    }
}

/// Which sums of days are wanted; the conditions that are given must all hold.
package struct RunDayQuery: Equatable, Sendable {
    /// The place of a row in the list.
    package struct Place: Equatable, Sendable {
        package var day: Int64
        package var number: Int64

        package init(day: Int64, number: Int64) {
            self.day = day
            self.number = number
        }
    }

    package var tasks: TaskFilter?
    /// The first and the last day.
    package var days: ClosedRange<Int64>
    /// Only rows behind this place.
    package var after: Place?
    package var limit: Int

    package init(
        tasks: TaskFilter? = nil,
        days: ClosedRange<Int64> = .min ... .max,
        after: Place? = nil,
        limit: Int
    ) {
        self.tasks = tasks
        self.days = days
        self.after = after
        self.limit = limit
    }
}

/// A page of sums, the latest day first; those of a day in the order in which its tasks had their first end.
package struct RunDayPage: Equatable, Sendable {
    package var rows: [RunDay]
    /// The place behind which the next page begins; `nil` if this is the last one.
    package var next: RunDayQuery.Place?

    package init(rows: [RunDay] = [], next: RunDayQuery.Place? = nil) {
        self.rows = rows
        self.next = next
    }

    /// Adds a row, unless the page is full: it then ends before the row.
    ///
    /// - Returns: whether there is room.
    package mutating func add(_ row: RunDay, limit: Int) -> Bool {
        guard rows.count < limit else {
            next = rows.last.map { RunDayQuery.Place(day: $0.day, number: $0.number) }
            return false
        }
        rows.append(row)
        return true
    }
}
