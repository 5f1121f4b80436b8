// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Limits how many rows there are of one kind that who may change nothing can cause: refusals, or logins.
///
/// After `burst`, one in `period` is noted: 26,280 in a year, about a quarter of the rows that are kept by
/// default. One user gets at most `burstOfUser` of them, so that those of another user are still seen.
/// Pure: it reads no clock. A row costs O(`usersMax`) at the most, and O(1) usually.
package struct AuditLimiter: Sendable {
    static let burst = 60
    static let burstOfUser = 20
    /// Nanoseconds.
    static let period: UInt64 = 1_200_000_000_000
    static let usersMax = 64

    private struct Bucket {
        var used = 0
        var since = MonotonicInstant.zero

        /// Gives back one row for each period that has passed.
        mutating func refill(_ now: MonotonicInstant) {
            let count = now.since(since) / AuditLimiter.period
            used = max(0, used - Int(clamping: count))
            since = used == 0 ? now : since + count &* AuditLimiter.period
        }
    }

    private var all = Bucket()
    /// By user; the key `nil` is for attempts whose user is unknown.
    private var users: [UInt32?: Bucket] = [:]
    /// How many were not noted since the last one that was.
    private var dropped = 0

    package init() {}

    /// Decides whether a row is written.
    ///
    /// - Returns: `nil` if it is not; otherwise the number of those before it that were not.
    package mutating func admit(user: UInt32?, now: MonotonicInstant) -> Int? {
        all.refill(now)
        var bucket = users[user] ?? Bucket()
        bucket.refill(now)
        guard all.used < Self.burst, bucket.used < Self.burstOfUser else {
            dropped += 1
            return nil
        }
        if users[user] == nil, users.count >= Self.usersMax {
            users = users.filter { $0.value.used > 0 && now.since($0.value.since) < Self.period }
        }
        if bucket.used == 0 { bucket.since = now }
        if all.used == 0 { all.since = now }
        bucket.used += 1
        all.used += 1
        // More users at once than `burst` permits have no place, and need none: `all` limits them.
        if users[user] != nil || users.count < Self.usersMax { users[user] = bucket }
        defer { dropped = 0 }
        return dropped
    }
}
