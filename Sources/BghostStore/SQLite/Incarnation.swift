// SPDX-License-Identifier: Apache-2.0

/// The number of a start that writes to the store: the upper half of the epochs of its runs.
///
/// It must be above the number of each earlier start, also if the store is replaced by an older copy, since
/// servers refuse the smaller of two epochs.
enum Incarnation {
    /// A greater number makes epochs that JSON with floating point cannot represent exactly.
    private static let hoursMax: Int64 = (1 << 21) - 1

    /// The number of the last start that wrote to the store.
    static func read(_ connection: Connection) throws(SQLiteFailure) -> UInt32 {
        let stored = try connection.number("SELECT incarnation FROM meta")
        guard let number = UInt32(exactly: stored), number < .max else {
            throw .damaged("it names \(stored) as the number of its starts")
        }
        return number
    }

    /// The number of the next start.
    ///
    /// The lock file remembers the last one in this folder. For a copy that was taken elsewhere, the hours since
    /// 1970 are a number that the lost store did not reach, unless it started more than once an hour on average.
    ///
    /// - Parameters:
    ///   - stored: the number in the store, from `read`.
    ///   - locked: the number in the lock file; 0 if there is none.
    ///   - now: the wall clock, ns since 1970.
    static func next(after stored: UInt32, locked: UInt32, now: Int64) -> UInt32 {
        let hours = min(max(0, now / 3_600_000_000_000), hoursMax)
        return max(max(stored, min(locked, .max - 1)) + 1, UInt32(hours))
    }
}
