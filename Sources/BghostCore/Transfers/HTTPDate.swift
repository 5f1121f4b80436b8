// SPDX-License-Identifier: Apache-2.0

/// Dates as HTTP writes them, `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// The two forms that were obsolete in 1999 are not read.
package enum HTTPDate {
    /// Seconds since 1970; `nil` for anything else and for dates that do not exist.
    package static func unixSeconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, days.contains(word(bytes[0..<3])),
            let month = months.firstIndex(of: word(bytes[8..<11])),
            word(bytes[3..<5]) == ", ", bytes[7] == space, bytes[11] == space,
            word(bytes[16..<17]) == " ", word(bytes[19..<20]) == ":", word(bytes[22..<23]) == ":",
            word(bytes[25..<29]) == " GMT",
            let day = AnswerHead.number(word(bytes[5..<7])),
            let year = AnswerHead.number(word(bytes[12..<16])),
            let hour = AnswerHead.number(word(bytes[17..<19])), hour < 24,
            let minute = AnswerHead.number(word(bytes[20..<22])), minute < 60,
            // 60 is a leap second.
            let second = AnswerHead.number(word(bytes[23..<25])), second <= 60,
            (1...Timestamp.daysOf(month: Int64(month + 1), year: year)).contains(day)
        else { return nil }
        let date = Timestamp.day(year: year, month: Int64(month + 1), day: day)
        return date * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static let space = UInt8(ascii: " ")
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func word(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}

/// When a server wants to be asked again.
package enum RetryAfter {
    /// Nanoseconds from now; `nil` if the answer does not say, or says it in no known form.
    ///
    /// - Parameter unixNow: what time it is, Unix nanoseconds. The server's own `Date` counts more.
    package static func delay(_ head: AnswerHead, unixNow: Int64) -> UInt64? {
        guard let text = head["retry-after"] else { return nil }
        if let seconds = AnswerHead.number(text) { return nanoseconds(seconds) }
        guard let then = HTTPDate.unixSeconds(text) else { return nil }
        let now = head["date"].flatMap(HTTPDate.unixSeconds) ?? unixNow / 1_000_000_000
        return nanoseconds(max(0, then - now))
    }

    private static func nanoseconds(_ seconds: Int64) -> UInt64 {
        // A year is more than any transfer has, and far from where sums overflow.
        UInt64(min(seconds, 366 * 86_400)) * 1_000_000_000
    }
}
