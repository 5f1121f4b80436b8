// SPDX-License-Identifier: Apache-2.0

/// Dates in the format of HTTP, RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// The two obsolete formats are not supported.
package enum HTTPDate {
    /// Parses a date to Unix seconds; `nil` for other formats and for dates that do not exist.
    package static func unixSeconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, days.contains(word(bytes[0..<3])),
            let month = months.firstIndex(of: word(bytes[8..<11])),
            word(bytes[3..<5]) == ", ", bytes[7] == space, bytes[11] == space,
            word(bytes[16..<17]) == " ", word(bytes[19..<20]) == ":", word(bytes[22..<23]) == ":",
            word(bytes[25..<29]) == " GMT",
            let day = Int64(digits: word(bytes[5..<7])),
            let year = Int64(digits: word(bytes[12..<16])),
            let hour = Int64(digits: word(bytes[17..<19])), hour < 24,
            let minute = Int64(digits: word(bytes[20..<22])), minute < 60,
            // 60 is a leap second.
            let second = Int64(digits: word(bytes[23..<25])), second <= 60,
            (1...Timestamp.daysOf(month: Int64(month + 1), year: year)).contains(day)
        else { return nil }
        let date = Timestamp.day(year: year, month: Int64(month + 1), day: day)
        return date * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Formats a date, such as `Sat, 21 Nov 2026 16:31:04 GMT`; "" for times before 1970.
    package static func text(unixSeconds seconds: Int64) -> String {
        guard seconds >= 0 else { return "" }
        let (day, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, monthDay) = Timestamp.date(ofDay: day)
        let time = [rest / 3600, rest / 60 % 60, rest % 60].map(twoDigits).joined(separator: ":")
        let date = [twoDigits(monthDay), months[Int(month) - 1], "\(year)"].joined(separator: " ")
        return "\(days[Int(day % 7)]), \(date) \(time) GMT"
    }

    private static let space = UInt8(ascii: " ")
    /// In the order of days since 1970-01-01, a Thursday.
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
