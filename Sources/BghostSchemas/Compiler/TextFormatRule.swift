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
        case .dateTime: return Timestamp.unixNanoseconds(text) != nil
        case .date:
            return text.utf8.count == 10 && Timestamp.unixNanoseconds(text + "T00:00:00Z") != nil
        case .uuid: return Self.isUUID(Array(text.utf8))
        case .ipv4: return Self.isIPv4(text)
        }
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
