// SPDX-License-Identifier: Apache-2.0

/// Formats and parses times in RFC 3339.
///
/// Times are Unix nanoseconds, from 1677 to 2262.
package enum Timestamp {
    /// Formats a time in UTC with milliseconds, such as `2026-11-21T16:31:04.250Z`.
    ///
    /// Smaller units are truncated.
    package static func text(unixNanoseconds: Int64) -> String {
        let milliseconds = floorDivide(unixNanoseconds, 1_000_000)
        let seconds = floorDivide(milliseconds, 1000)
        let day = floorDivide(seconds, 86_400)
        let (year, month, monthDay) = date(ofDay: day)
        let rest = seconds - day * 86_400
        let parts = [
            padded(year, 4), "-", padded(month, 2), "-", padded(monthDay, 2), "T",
            padded(rest / 3600, 2), ":", padded(rest / 60 % 60, 2), ":", padded(rest % 60, 2), ".",
            padded(milliseconds - seconds * 1000, 3), "Z",
        ]
        return parts.joined()
    }

    /// Parses a date and time with an offset, such as `2026-11-21T16:31:04+01:00`, and any fraction of a
    /// second; `nil` for other texts and for dates that do not exist.
    package static func unixNanoseconds(_ text: some StringProtocol) -> Int64? {
        var reader = Reader(bytes: Array(text.utf8))
        guard let year = reader.number(4), reader.consume("-"),
            let month = reader.number(2), reader.consume("-"),
            let monthDay = reader.number(2), reader.consume("T", "t", " "),
            let hour = reader.number(2), reader.consume(":"),
            let minute = reader.number(2), reader.consume(":"),
            let second = reader.number(2),
            let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd,
            (1...12).contains(month), (1...daysOf(month: month, year: year)).contains(monthDay),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let days = self.day(year: year, month: month, day: monthDay)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(fraction)
        return overflow || carry ? nil : sum
    }

    // MARK: - The calendar

    // Both conversions use eras of 400 years (146,097 days) and years that start on 1 March, so that the leap
    // day is the last day.

    /// The number of days from 1970-01-01 to a Gregorian date.
    package static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = floorDivide(year, 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The Gregorian date that is a number of days after 1970-01-01.
    package static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let leapDays = dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096
        let yearOfEra = (dayOfEra - leapDays) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// The number of days of a month.
    package static func daysOf(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// The quotient rounded towards negative infinity, for a positive divisor.
    package static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension Timestamp {
    private struct Reader {
        let bytes: [UInt8]
        var index = 0

        var isAtEnd: Bool { index == bytes.count }

        mutating func digit() -> Int64? {
            guard index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= bytes[index]
            else { return nil }
            defer { index += 1 }
            return Int64(bytes[index] - UInt8(ascii: "0"))
        }

        mutating func number(_ count: Int) -> Int64? {
            var result: Int64 = 0
            for _ in 0..<count {
                guard let digit = digit() else { return nil }
                result = result * 10 + digit
            }
            return result
        }

        mutating func consume(_ choices: Unicode.Scalar...) -> Bool {
            guard index < bytes.count, choices.contains(Unicode.Scalar(bytes[index])) else {
                return false
            }
            index += 1
            return true
        }

        /// Parses a fraction, nanoseconds; 0 if there is none, `nil` if it has no digit.
        mutating func fraction() -> Int64? {
            guard consume(".") else { return 0 }
            guard var result = digit() else { return nil }
            var digits = 1
            while let digit = digit() {
                guard digits < 9 else { continue }
                result = result * 10 + digit
                digits += 1
            }
            for _ in digits..<9 { result *= 10 }
            return result
        }

        /// Parses an offset, seconds east of UTC.
        mutating func offset() -> Int64? {
            if consume("Z", "z") { return 0 }
            let isEast = consume("+")
            guard isEast || consume("-"), let hours = number(2), consume(":"),
                let minutes = number(2),
                hours < 24, minutes < 60
            else { return nil }
            return (isEast ? 1 : -1) * (hours * 3600 + minutes * 60)
        }
    }
}
