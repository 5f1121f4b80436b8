// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Formats and parses quantities for people.
package enum HumanText {
    /// A duration in at most two units: `340ms`, `1.2s`, `2m05s`, `26h03m`, `3d`.
    package static func duration(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return "0ms" }
        let milliseconds = attoseconds / 1_000_000_000_000_000
        switch seconds {
        case 0: return "\(milliseconds)ms"
        case ..<60:
            let tenths = milliseconds / 100
            return tenths == 0 ? "\(seconds)s" : "\(seconds).\(tenths)s"
        case ..<3600: return "\(seconds / 60)m" + pair(seconds % 60, "s")
        case ..<172_800: return "\(seconds / 3600)h" + pair(seconds / 60 % 60, "m")
        default: return "\(seconds / 86_400)d"
        }
    }

    /// A time relative to now: `4m ago`, `in 11m`, `now`.
    ///
    /// Both times are Unix nanoseconds.
    package static func time(_ time: Int64, now: Int64) -> String {
        let (distance, overflow) = time.subtractingReportingOverflow(now)
        let seconds = overflow ? Int64.max : distance / 1_000_000_000
        guard seconds != 0 else { return "now" }
        let length = coarse(seconds.magnitude)
        return seconds < 0 ? "\(length) ago" : "in \(length)"
    }

    /// A size in binary units: `512 B`, `1.5 MiB`.
    package static func bytes(_ count: UInt64) -> String {
        guard count >= 1024 else { return "\(count) B" }
        var value = Double(count)
        var unit = 0
        while value >= 1024, unit < 6 {
            value /= 1024
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        let text =
            tenths >= 1000 || tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        return text + " " + ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][unit]
    }

    /// The local time of day with milliseconds, for logs.
    ///
    /// - Parameter time: Unix nanoseconds.
    package static func clock(_ time: Int64) -> String {
        var seconds = time_t(time / 1_000_000_000)
        let milliseconds = time / 1_000_000 % 1000
        if milliseconds < 0 { seconds -= 1 }
        var parts = tm()
        localtime_r(&seconds, &parts)
        return [Int64(parts.tm_hour), Int64(parts.tm_min), Int64(parts.tm_sec)]
            .map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
            + "." + "\(1000 + (milliseconds + 1000) % 1000)".dropFirst()
    }

    /// Parses a duration with units: `30s`, `1h30m`, `250ms`; `nil` for any other text, including a bare or
    /// negative number.
    package static func duration(from text: String) -> Duration? {
        var rest = text[...]
        var total: Int64 = 0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { "0"..."9" ~= $0 }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { !("0"..."9" ~= $0) }
            rest = rest.dropFirst(unit.count)
            guard let number = Int64(digits), let milliseconds = units[String(unit)] else {
                return nil
            }
            let (part, overflow) = number.multipliedReportingOverflow(by: milliseconds)
            let (sum, carry) = total.addingReportingOverflow(part)
            guard !overflow, !carry, sum <= millisecondsMax else { return nil }
            total = sum
        }
        return .milliseconds(total)
    }

    private static let units: [String: Int64] = [
        "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]
    /// A century: later times overflow Unix nanoseconds.
    private static let millisecondsMax: Int64 = 36_500 * 86_400_000

    private static func pair(_ number: Int64, _ unit: String) -> String {
        number == 0 ? "" : (number < 10 ? "0" : "") + "\(number)\(unit)"
    }

    private static func coarse(_ seconds: UInt64) -> String {
        switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3600: "\(seconds / 60)m"
        case ..<172_800: "\(seconds / 3600)h"
        default: "\(seconds / 86_400)d"
        }
    }
}
