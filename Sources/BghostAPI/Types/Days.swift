// SPDX-License-Identifier: Apache-2.0

package import BghostModel

extension API {
    /// The sums of the runs of one task that ended on one day.
    package struct RunDay: Codable, Equatable, Sendable {
        /// The day, of UTC.
        @Formatted<DateText> package var day: Int64
        /// The identifier of the task; null for the runs of all tasks behind the first thousand of the day.
        @EmptyAsNull package var task: String
        /// The number of runs.
        @OrDefault package var runs: Int64
        /// Those that succeeded.
        @OrDefault package var succeeded: Int64
        /// Those that failed.
        @OrDefault package var failed: Int64
        /// Those that were cancelled and ended within their grace.
        @OrDefault package var cancelled: Int64
        /// Those that were killed.
        @OrDefault package var killed: Int64
        /// Those whose worker crashed.
        @OrDefault package var crashed: Int64
        /// Those that lost their worker or the daemon for another reason.
        @OrDefault package var lost: Int64
        /// Those in the daemon's process that did not end within their grace.
        @OrDefault package var abandoned: Int64
        /// The sum of their run times, seconds.
        @Formatted<Seconds> package var runtimeSeconds: Duration
        /// The sum of their processor times, as far as these were measured, seconds.
        @Formatted<Seconds> package var cpuSeconds: Duration
        /// The longest run time, seconds.
        @Formatted<Seconds> package var longestSeconds: Duration

        package init(_ row: BghostModel.RunDay) {
            day = row.day
            task = row.task
            runs = row.counts.all
            succeeded = row.counts.succeeded
            failed = row.counts.failed
            cancelled = row.counts.cancelled
            killed = row.counts.killed
            crashed = row.counts.crashed
            lost = row.counts.lost
            abandoned = row.counts.abandoned
            runtimeSeconds = .nanoseconds(row.runtime)
            cpuSeconds = .nanoseconds(row.cpu)
            longestSeconds = .nanoseconds(row.longest)
        }
    }

    /// The sums of runs by task and day, the latest day first.
    package struct RunDays: Codable, Equatable, Sendable {
        /// The sums.
        @Elements package var days: [RunDay]
        /// `cursor` for the next page, also if this page is shorter than its limit or empty, since it ends after
        /// 20,000 rows; null if there is none.
        @OrNull package var next: String?

        package init(days: [RunDay], next: String? = nil) {
            self.days = days
            self.next = next
        }

        package init(_ page: RunDayPage) {
            days = page.rows.map { RunDay($0) }
            next = page.next.map { PageCursor.days(day: $0.day, number: $0.number).text }
        }
    }
}
