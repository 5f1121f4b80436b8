// SPDX-License-Identifier: Apache-2.0

/// The times of day of a calendar: all combinations of its hours, minutes and seconds.
///
/// Each set is a bit mask, so a search or a count takes a few instructions. Times are seconds since midnight.
struct TimeOfDaySet: Equatable, Sendable {
    let hours: UInt64
    let minutes: UInt64
    let seconds: UInt64
    /// The first and last time of a day.
    let first: Int64
    let last: Int64
    let perDay: Int

    /// - Precondition: none of the sets is empty.
    init(hours: UInt64, minutes: UInt64, seconds: UInt64) {
        self.hours = hours
        self.minutes = minutes
        self.seconds = seconds
        first = hours.lowest * 3600 + minutes.lowest * 60 + seconds.lowest
        last = hours.highest * 3600 + minutes.highest * 60 + seconds.highest
        perDay = hours.nonzeroBitCount * minutes.nonzeroBitCount * seconds.nonzeroBitCount
    }

    /// The first time at or after a time of day.
    func first(from time: Int64) -> Int64? {
        let hour = time / 3600
        let minute = time / 60 % 60
        if hours.holds(hour) {
            let rest = minutes.holds(minute) ? seconds.from(time % 60) : 0
            if rest != 0 { return hour * 3600 + minute * 60 + rest.lowest }
            let later = minutes.from(minute + 1)
            if later != 0 { return hour * 3600 + later.lowest * 60 + seconds.lowest }
        }
        let later = hours.from(hour + 1)
        guard later != 0 else { return nil }
        return later.lowest * 3600 + minutes.lowest * 60 + seconds.lowest
    }

    /// The last time at or before a time of day.
    func last(through time: Int64) -> Int64? {
        let hour = time / 3600
        let minute = time / 60 % 60
        if hours.holds(hour) {
            let rest = minutes.holds(minute) ? seconds.below(time % 60 + 1) : 0
            if rest != 0 { return hour * 3600 + minute * 60 + rest.highest }
            let earlier = minutes.below(minute)
            if earlier != 0 { return hour * 3600 + earlier.highest * 60 + seconds.highest }
        }
        let earlier = hours.below(hour)
        guard earlier != 0 else { return nil }
        return earlier.highest * 3600 + minutes.highest * 60 + seconds.highest
    }

    /// The number of times before a time of day.
    func count(before time: Int64) -> Int {
        let hour = time / 3600
        let minute = time / 60 % 60
        let perMinute = seconds.nonzeroBitCount
        let perHour = minutes.nonzeroBitCount * perMinute
        var count = hours.below(hour).nonzeroBitCount * perHour
        guard hours.holds(hour) else { return count }
        count += minutes.below(minute).nonzeroBitCount * perMinute
        guard minutes.holds(minute) else { return count }
        return count + seconds.below(time % 60).nonzeroBitCount
    }

    /// The shortest time between two times.
    ///
    /// - Parameter daysFollow: whether the set may apply to two successive days.
    func leastSpacing(daysFollow: Bool) -> Int64? {
        let minute = seconds.highest - seconds.lowest
        let hour = (minutes.highest - minutes.lowest) * 60 + minute
        let candidates = [
            seconds.leastStep,
            minutes.leastStep.map { $0 * 60 - minute },
            hours.leastStep.map { $0 * 3600 - hour },
            daysFollow ? 86_400 - (last - first) : nil,
        ]
        return candidates.compactMap { $0 }.min()
    }
}

extension UInt64 {
    /// The position of the lowest bit; 64 if there is none.
    var lowest: Int64 { Int64(trailingZeroBitCount) }

    /// The position of the highest bit; -1 if there is none.
    var highest: Int64 { 63 - Int64(leadingZeroBitCount) }

    func holds(_ position: Int64) -> Bool { (self &>> UInt64(position)) & 1 == 1 }

    /// The bits from a position on, which is below 64.
    func from(_ position: Int64) -> UInt64 { self & (UInt64.max &<< UInt64(position)) }

    /// The bits below a position, which is below 64.
    func below(_ position: Int64) -> UInt64 { self & ~(UInt64.max &<< UInt64(position)) }

    /// The smallest distance between two bits; `nil` if there are fewer than two.
    fileprivate var leastStep: Int64? {
        var rest = self
        var before: Int64?
        var least: Int64?
        while rest != 0 {
            let position = rest.lowest
            if let before { least = Swift.min(least ?? 64, position - before) }
            before = position
            rest &= rest &- 1
        }
        return least
    }
}
