// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension TaskSchedule {
    /// The times of the schedule, for people.
    package var summary: String {
        switch times {
        case .calendar(let expression, let zone, _, _): "\(expression.text) (\(zone.name))"
        case .every(let interval): "every \(Self.short(interval.clampedNanoseconds))"
        }
    }

    private static func short(_ nanoseconds: UInt64) -> String {
        let units: [(UInt64, String)] = [
            (86_400_000_000_000, "d"), (3_600_000_000_000, "h"), (60_000_000_000, "m"),
            (1_000_000_000, "s"),
        ]
        // Use the largest unit that gives a whole number.
        for (length, unit) in units where nanoseconds >= length && nanoseconds % length == 0 {
            return "\(nanoseconds / length)\(unit)"
        }
        return DurationText.of(nanoseconds: nanoseconds)
    }
}
