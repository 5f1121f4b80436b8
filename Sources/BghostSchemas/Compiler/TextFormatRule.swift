// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The formats of texts that are checked; all others are descriptions for people.
enum TextFormatRule: String, CaseIterable, Sendable {
    case dateTime = "date-time"
    case date
    case uuid
    case ipv4

    var phrase: String {
        switch self {
        case .dateTime: "a date and time such as 2026-11-24T16:30:00Z"
        case .date: "a date such as 2026-11-24"
        case .uuid: "a UUID"
        case .ipv4: "an IPv4 address"
        }
    }

    func matches(_ text: String) -> Bool {
        // None is longer: a hostile text costs nothing.
        guard text.utf8.count <= 64 else { return false }
        switch self {
        case .dateTime: return Self.isDateTime(Array(text.utf8))
        case .date:
            return text.utf8.count == 10 && Self.isDateTime(Array((text + "T00:00:00Z").utf8))
        case .uuid: return Self.isUUID(Array(text.utf8))
        case .ipv4: return Self.isIPv4(text)
        }
    }

    /// Whether a text is a date and time of RFC 3339, of any year from 0000 to 9999.
    ///
    /// A timestamp has nanoseconds, for which only years from 1678 to 2261 have a place. So the year is
    /// replaced by one of the same length.
    private static func isDateTime(_ bytes: [UInt8]) -> Bool {
        let digits = bytes.prefix(4)
        guard digits.count == 4,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let year = Int64(String(decoding: digits, as: UTF8.self))
        else { return false }
        let isLeap = Timestamp.daysOf(month: 2, year: year) == 29
        var known = Array((isLeap ? "2000" : "2001").utf8) + bytes.dropFirst(4)
        let isLeapSecond = known.count > 19 && known[17..<19].elementsEqual("60".utf8)
        if isLeapSecond { known.replaceSubrange(17..<19, with: "59".utf8) }
        guard let time = Timestamp.unixNanoseconds(String(decoding: known, as: UTF8.self)) else {
            return false
        }
        // It is the last second of a day of UTC, whatever the offset is.
        return !isLeapSecond || time / 1_000_000_000 % 86_400 == 86_399
    }

    private static func isUUID(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 36 else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            [8, 13, 18, 23].contains(index)
                ? byte == UInt8(ascii: "-")
                : Unicode.Scalar(byte).properties.isASCIIHexDigit
        }
    }

    private static func isIPv4(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count)
                    && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                    && (part.count == 1 || part.first != UInt8(ascii: "0"))
                    && UInt8(Substring(part)) != nil
            }
    }
}
