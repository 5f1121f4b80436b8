// SPDX-License-Identifier: Apache-2.0

/// Limits how many refused attempts are noted, so that a flood of them cannot evict other rows.
///
/// After `burst`, one refusal in `period` is noted: 52,560 in a year, about half of the rows that are kept by
/// default. One user gets at most `burstOfUser` of them, so that another user's refusals are still seen.
/// Pure: it reads no clock. A refusal costs O(`usersMax`) at the most, and O(1) usually.
package struct RefusalLimiter: Sendable {
    static let burst = 60
    static let burstOfUser = 20
    /// Nanoseconds.
    static let period: UInt64 = 600_000_000_000
    static let usersMax = 64

    private struct Bucket {
        var used = 0
        var since: UInt64 = 0

        /// Gives back one refusal for each period that has passed.
        mutating func refill(_ now: UInt64) {
            let count = (now &- since) / RefusalLimiter.period
            used = max(0, used - Int(clamping: count))
            since = used == 0 ? now : since &+ count &* RefusalLimiter.period
        }
    }

    private var all = Bucket()
    /// By user; the key `nil` is for attempts whose user is unknown.
    private var users: [UInt32?: Bucket] = [:]
    /// How many refusals were not noted since the last one that was.
    private var dropped = 0

    package init() {}

    /// Decides whether a refusal is noted.
    ///
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: `nil` if it is not; otherwise the number of those before it that were not.
    package mutating func admit(user: UInt32?, now: UInt64) -> Int? {
        all.refill(now)
        var bucket = users[user] ?? Bucket()
        bucket.refill(now)
        guard all.used < Self.burst, bucket.used < Self.burstOfUser else {
            dropped += 1
            return nil
        }
        if users[user] == nil, users.count >= Self.usersMax {
            users = users.filter { $0.value.used > 0 && now &- $0.value.since < Self.period }
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
