// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension TaskSchedule {
    /// The times of the schedule, for people.
    package var summary: String {
        let text =
            switch times {
            case .calendar(let expression, let zone, _, _): "\(expression.text) (\(zone.name))"
            case .every(let interval): "every \(Self.short(interval.clampedNanoseconds))"
            case .boot(.zero): "at each boot"
            case .boot(let after): "\(Self.short(after.clampedNanoseconds)) after each boot"
            }
        guard randomDelay > .zero else { return text }
        let longest = Self.short(randomDelay.clampedNanoseconds)
        return "\(text), each start up to \(longest) later at random"
    }

    /// The shortest time between two of its times, as far as the manifest tells; `nil` for boots, and for a
    /// calendar without two successive days, whose times are more than a day apart.
    package var leastSpacing: Duration? {
        switch times {
        case .calendar(let expression, _, _, _): expression.leastSpacing.map { .seconds($0) }
        case .every(let interval): interval
        case .boot: nil
        }
    }

    /// A duration in its largest unit that gives a whole number, such as `10m`.
    package static func text(of duration: Duration) -> String {
        short(duration.clampedNanoseconds)
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
