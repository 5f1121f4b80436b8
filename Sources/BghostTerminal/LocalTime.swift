// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Shows times in the zone of the host: RFC 3339 with its offset.
///
/// The daemon's sentences have times in UTC, which every program can read; people read them here.
package enum LocalTime {
    /// Replaces each time in UTC, such as `2026-11-21T03:00:00.000Z`, by that of the host's zone, such as
    /// `2026-11-21T04:00:00.000+01:00`; nothing changes where the zone is UTC.
    package static func text(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "Z")) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 8)
        var copied = 0
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "T"), let time = time(bytes, around: index),
                let local = local(bytes[time])
            else {
                index += 1
                continue
            }
            result += bytes[copied..<time.lowerBound]
            result += local
            copied = time.upperBound
            index = copied
        }
        guard copied > 0 else { return text }
        return String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// The place of a time in UTC whose `T` is at an index; `nil` if there is none.
    private static func time(_ bytes: [UInt8], around index: Int) -> Range<Int>? {
        let start = index - 10
        guard start >= 0, index + 9 < bytes.count, matches(bytes, "dddd-dd-ddTdd:dd:dd", at: start),
            start == 0 || !isWord(bytes[start - 1])
        else { return nil }
        var end = index + 9
        if bytes[end] == UInt8(ascii: ".") {
            end += 1
            while end < bytes.count, isDigit(bytes[end]) { end += 1 }
        }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "Z"),
            end + 1 == bytes.count || !isWord(bytes[end + 1])
        else { return nil }
        return start..<end + 1
    }

    /// - Returns: `nil` if the zone has no other time.
    private static func local(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        let start = bytes.startIndex
        func number(_ offset: Int, _ count: Int) -> Int32 {
            bytes[(start + offset)..<(start + offset + count)]
                .reduce(0) { $0 * 10 + Int32($1 - UInt8(ascii: "0")) }
        }
        var parts = tm()
        parts.tm_year = number(0, 4) - 1900
        parts.tm_mon = number(5, 2) - 1
        parts.tm_mday = number(8, 2)
        parts.tm_hour = number(11, 2)
        parts.tm_min = number(14, 2)
        parts.tm_sec = number(17, 2)
        var seconds = timegm(&parts)
        var shown = tm()
        guard localtime_r(&seconds, &shown) != nil, shown.tm_gmtoff != 0 else { return nil }
        let offset = Int(shown.tm_gmtoff) / 60
        let date =
            "\(padded(Int(shown.tm_year) + 1900, 4))-\(padded(Int(shown.tm_mon) + 1, 2))"
            + "-\(padded(Int(shown.tm_mday), 2))T\(padded(Int(shown.tm_hour), 2))"
            + ":\(padded(Int(shown.tm_min), 2)):\(padded(Int(shown.tm_sec), 2))"
        let zone =
            (offset < 0 ? "-" : "+") + padded(abs(offset) / 60, 2) + ":"
            + padded(abs(offset) % 60, 2)
        return Array(date.utf8) + bytes[(start + 19)...].dropLast() + Array(zone.utf8)
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    /// Whether bytes match a pattern in which `d` is a digit.
    private static func matches(_ bytes: [UInt8], _ pattern: StaticString, at start: Int) -> Bool {
        pattern.withUTF8Buffer { pattern in
            pattern.indices.allSatisfy { index in
                pattern[index] == UInt8(ascii: "d")
                    ? isDigit(bytes[start + index]) : pattern[index] == bytes[start + index]
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }

    /// Makes UTC the zone of this process, once; call it before other threads read the environment.
    package static func useUTC() { _ = utc }

    private static let utc: Void = {
        setenv("TZ", "UTC0", 1)
        tzset()
    }()
}
