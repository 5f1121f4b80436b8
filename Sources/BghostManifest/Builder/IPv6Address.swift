// SPDX-License-Identifier: Apache-2.0

/// An IPv6 address without a zone.
struct IPv6Address: Equatable, Hashable, Sendable, CustomStringConvertible {
    /// The eight groups, the most significant first.
    private let groups: [UInt16]

    /// Parses every form of RFC 4291, section 2.2; `nil` for any other text.
    init?(_ text: String) {
        // The longest form has 45 characters.
        guard (2...45).contains(text.utf8.count), text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        let halves = Self.splitAtGap(text)
        guard halves.count <= 2, let first = Self.groups(halves[0], mayEndInIPv4: halves.count == 1)
        else { return nil }
        guard halves.count == 2 else {
            guard first.count == 8 else { return nil }
            groups = first
            return
        }
        guard let second = Self.groups(halves[1], mayEndInIPv4: true),
            first.count + second.count < 8
        else { return nil }
        groups = first + Array(repeating: 0, count: 8 - first.count - second.count) + second
    }

    /// The form of RFC 5952: lower case, no leading zeros, the first longest run of zeros as `::`.
    var description: String {
        var gap = 0..<0
        var start = 0
        while start < 8 {
            let end = groups[start...].firstIndex { $0 != 0 } ?? 8
            if end - start > max(1, gap.count) { gap = start..<end }
            start = end + 1
        }
        func text(_ range: Range<Int>) -> String {
            groups[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !gap.isEmpty else { return text(0..<8) }
        return text(0..<gap.lowerBound) + "::" + text(gap.upperBound..<8)
    }

    /// The parts before and after each `::`.
    private static func splitAtGap(_ text: String) -> [Substring] {
        var parts: [Substring] = []
        var rest = text[...]
        while let colon = rest.firstIndex(of: ":") {
            var start = colon
            while start < rest.endIndex, !rest[start...].hasPrefix("::") {
                start = rest.index(after: start)
            }
            guard start < rest.endIndex else { break }
            parts.append(rest[..<start])
            rest = rest[rest.index(start, offsetBy: 2)...]
        }
        return parts + [rest]
    }

    private static func groups(_ text: Substring, mayEndInIPv4: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 8 else { return nil }
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if part.contains("."), mayEndInIPv4, index == parts.count - 1 {
                guard let octets = octets(part) else { return nil }
                groups += [octets[0] << 8 | octets[1], octets[2] << 8 | octets[3]]
            } else {
                let isHex = part.first != "+" && part.first != "-"
                guard (1...4).contains(part.utf8.count), isHex,
                    let group = UInt16(part, radix: 16)
                else { return nil }
                groups.append(group)
            }
        }
        return groups.count <= 8 ? groups : nil
    }

    private static func octets(_ text: Substring) -> [UInt16]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let octets = parts.compactMap { part -> UInt16? in
            guard part.first != "+", part.first != "-", part == "0" || part.first != "0" else {
                return nil
            }
            return UInt8(part).map(UInt16.init)
        }
        return octets.count == 4 && parts.count == 4 ? octets : nil
    }
}
