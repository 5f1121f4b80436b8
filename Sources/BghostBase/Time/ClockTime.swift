// SPDX-License-Identifier: Apache-2.0

/// Converts times of day to text and back.
package enum ClockTime {
    /// - Parameter minute: minutes after midnight.
    package static func text(minute: Int) -> String {
        let (hour, rest) = minute.quotientAndRemainder(dividingBy: 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
    }

    /// Parses minutes after midnight; `nil` for any other text.
    package static func minute(text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let hour = parts[0], let minute = parts[1],
            0..<24 ~= hour, 0..<60 ~= minute
        else { return nil }
        return hour * 60 + minute
    }
}
