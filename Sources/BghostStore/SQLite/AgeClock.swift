// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CBghostSystem

/// Decides when rows may be deleted by their age.
///
/// A clock that is far ahead at a start would make the whole history old. So the store must show that the
/// clock is the one of before: by a row that is an hour to a day old. Otherwise, and after the clock was set
/// ahead by more than a day, rows grow old again once it has gone on for an hour.
struct AgeClock {
    /// The time by which rows are old or not.
    struct Look {
        /// Unix nanoseconds.
        let now: Int64
        /// Whether rows may be deleted by their age.
        let mayDelete: Bool
        /// Whether that was not so at the look before.
        let isRelease: Bool

        /// The date before which rows are too old, Unix nanoseconds.
        func oldest(_ age: Duration) -> Int64 {
            guard mayDelete else { return .min }
            return now.subtractingClamped(Int64(clamping: age.clampedNanoseconds))
        }
    }

    /// A clock that is ahead by less deletes no more than what was written in that time, nanoseconds.
    static let stepMax: Int64 = 86_400_000_000_000
    /// How long a clock must go on before it is believed, nanoseconds.
    static let wait: Int64 = 3_600_000_000_000
    /// The newest rows that a start looks at.
    private static let rowsMax = 4096

    /// How far the wall clock was ahead of the time since boot at the last look.
    private var offset: Int64
    /// The time since boot from which the clock is believed.
    private var believedFrom: Int64
    private var isHeldBack = false

    /// - Parameters:
    ///   - wall: Unix nanoseconds.
    ///   - uptime: the time since boot with the time that the machine slept, nanoseconds.
    init(wall: Int64, uptime: Int64, isBelieved: Bool) {
        offset = wall.subtractingClamped(uptime)
        believedFrom = isBelieved ? .min : uptime &+ Self.wait
    }

    /// Looks for a row that a daemon has written at a time that fits the clock.
    init(_ connection: Connection) throws(SQLiteFailure) {
        let now = bgs_realtime_ns()
        let dates = """
            BETWEEN \(now.subtractingClamped(Self.stepMax + Self.wait))
            AND \(now.subtractingClamped(Self.wait))
            """
        func newest(_ table: String) -> String {
            "SELECT at FROM (SELECT at FROM \(table) ORDER BY seq DESC LIMIT \(Self.rowsMax))"
        }
        let believed = try connection.number(
            """
            SELECT EXISTS (\(newest("run")) WHERE at \(dates))
                OR EXISTS (\(newest("audit")) WHERE at \(dates))
                OR NOT EXISTS (SELECT 1 FROM run UNION ALL SELECT 1 FROM audit)
            """
        )
        self.init(wall: now, uptime: bgs_uptime_ns(), isBelieved: believed != 0)
    }

    /// Whether a deletion that was held back may go on.
    var isDue: Bool { isHeldBack && bgs_uptime_ns() >= believedFrom }

    mutating func look() -> Look { look(wall: bgs_realtime_ns(), uptime: bgs_uptime_ns()) }

    mutating func look(wall: Int64, uptime: Int64) -> Look {
        let before = (offset: offset, isHeldBack: isHeldBack)
        offset = wall.subtractingClamped(uptime)
        if offset.subtractingClamped(before.offset) > Self.stepMax {
            believedFrom = uptime &+ Self.wait
        }
        isHeldBack = uptime < believedFrom
        return Look(
            now: wall,
            mayDelete: !isHeldBack,
            isRelease: before.isHeldBack && !isHeldBack
        )
    }
}

/// The dates of the oldest rows of a table, also of those that are dated after now.
///
/// Rows are numbered in the order in which they were written. A row that a clock has dated too late is at
/// least as old as a later row whose date has passed; otherwise it would keep the rows behind it, too.
struct RowDates {
    /// The most rows that one look reads.
    private static let rowsMax = 512

    private let later: Statement
    /// The numbers of the first and the last of the rows that are known to be dated after now.
    private var ahead: (first: Int64, last: Int64) = (0, -1)
    /// The date of the row behind them; `nil` if it is not known.
    private var date: Int64?
    /// Whether the next piece of a deletion may find that date.
    private(set) var isUnfinished = false

    init(_ table: String, on connection: Connection) throws(SQLiteFailure) {
        later = try Statement(
            "SELECT seq, at FROM \(table) WHERE seq > ? ORDER BY seq LIMIT \(Self.rowsMax)",
            on: connection
        )
    }

    /// Begins a piece of a deletion.
    mutating func begin() { isUnfinished = false }

    /// Whether a row was written before a date.
    ///
    /// - Parameter oldest: the date; `.min`: no row is old.
    mutating func isOld(
        _ seq: Int64,
        _ at: Int64,
        before oldest: Int64,
        now: Int64
    ) throws(SQLiteFailure) -> Bool {
        guard oldest > .min, at > now else { return at < oldest }
        if seq < ahead.first || seq > ahead.last { (ahead, date) = ((seq, seq), nil) }
        if date == nil { try lookOn(now) }
        return date.map { $0 < oldest } ?? false
    }

    private mutating func lookOn(_ now: Int64) throws(SQLiteFailure) {
        var (last, found, count) = (ahead.last, Int64?.none, 0)
        try later.rows({ $0.add(last) }) { row in
            let (seq, at) = (row.int(), row.int())
            count += 1
            guard at > now else {
                found = at
                return false
            }
            last = seq
            return true
        }
        (ahead.last, date) = (last, found)
        isUnfinished = found == nil && count == Self.rowsMax
    }
}
