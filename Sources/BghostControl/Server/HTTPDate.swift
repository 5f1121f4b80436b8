// SPDX-License-Identifier: Apache-2.0

internal import BghostCore

/// The `Date` field of an answer, after RFC 9110 §5.6.7.
package enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Such as `Sat, 21 Nov 2026 16:31:04 GMT`; "" for times before 1970.
    package static func text(unixSeconds seconds: Int64) -> String {
        guard seconds >= 0 else { return "" }
        let (day, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, monthDay) = Timestamp.date(ofDay: day)
        let time = [rest / 3600, rest / 60 % 60, rest % 60].map(twoDigits).joined(separator: ":")
        // 1970 began on a Thursday.
        let date = [twoDigits(monthDay), months[Int(month) - 1], "\(year)"].joined(separator: " ")
        return "\(weekdays[Int(day % 7)]), \(date) \(time) GMT"
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
