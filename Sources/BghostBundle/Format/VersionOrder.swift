// SPDX-License-Identifier: Apache-2.0

/// How a version stands to another one.
///
/// Versions are numbers with dots; a pre-release comes before its release. An old version with a known
/// hole, which its author signed, is the easiest one to offer again: so nothing is guessed.
package enum VersionOrder: Equatable, Sendable {
    case older
    /// The same or later.
    case notOlder
    /// The versions differ, and they have no order.
    case unknown

    package init(_ version: String, comparedWith other: String) {
        if version == other {
            self = .notOlder
        } else if let first = Parts(version), let second = Parts(other),
            let isOlder = first.isOlder(than: second)
        {
            self = isOlder ? .older : .notOlder
        } else {
            self = .unknown
        }
    }

    /// A version of the form `1.2.0-rc.1+7`.
    private struct Parts {
        var numbers: [Substring]
        var preRelease: [Substring] = []
        var build: Substring = ""

        /// `nil` for other forms.
        init?(_ version: String) {
            var rest = version[...]
            if let first = rest.first, "vV".contains(first) { rest = rest.dropFirst() }
            if let plus = rest.firstIndex(of: "+") {
                build = rest[plus...]
                rest = rest[..<plus]
            }
            if let hyphen = rest.firstIndex(of: "-") {
                preRelease = Self.split(rest[rest.index(after: hyphen)...])
                rest = rest[..<hyphen]
            }
            numbers = Self.split(rest)
            guard numbers.allSatisfy(VersionOrder.isNumber) else { return nil }
        }

        private static func split(_ text: Substring) -> [Substring] {
            text.split(separator: ".", omittingEmptySubsequences: false)
        }

        /// `nil` if that cannot be told.
        func isOlder(than other: Parts) -> Bool? {
            for index in 0..<max(numbers.count, other.numbers.count) {
                // `1.0` is the same as `1.0.0`.
                let own = index < numbers.count ? numbers[index] : "0"
                let others = index < other.numbers.count ? other.numbers[index] : "0"
                if let isLess = VersionOrder.isLess(own, others) { return isLess }
            }
            if preRelease.isEmpty != other.preRelease.isEmpty { return other.preRelease.isEmpty }
            for (own, others) in zip(preRelease, other.preRelease) where own != others {
                return VersionOrder.isWordLess(own, others)
            }
            if preRelease.count != other.preRelease.count {
                return preRelease.count < other.preRelease.count
            }
            // Builds of one version have no order.
            return build == other.build ? false : nil
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isDigit)
    }

    /// Compares numbers of any size by their digits; `nil` if they are equal.
    private static func isLess(_ first: Substring, _ second: Substring) -> Bool? {
        let a = first.utf8.drop { $0 == UInt8(ascii: "0") }
        let b = second.utf8.drop { $0 == UInt8(ascii: "0") }
        if a.count != b.count { return a.count < b.count }
        return a.elementsEqual(b) ? nil : a.lexicographicallyPrecedes(b)
    }

    /// Compares different parts of a pre-release; `nil` if that cannot be told.
    private static func isWordLess(_ first: Substring, _ second: Substring) -> Bool? {
        let (a, b) = (first.drop { !$0.isNumber }, second.drop { !$0.isNumber })
        // `beta` before `rc`, as in Semantic Versioning.
        if a.isEmpty, b.isEmpty { return first.utf8.lexicographicallyPrecedes(second.utf8) }
        // `2` before `10`, and `rc2` before `rc10`, which Semantic Versioning orders as texts.
        guard first.dropLast(a.count) == second.dropLast(b.count), isNumber(a), isNumber(b) else {
            return nil
        }
        return isLess(a, b)
    }
}
