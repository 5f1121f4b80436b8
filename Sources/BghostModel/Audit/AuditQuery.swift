// SPDX-License-Identifier: Apache-2.0

/// A question for rows of the audit; the conditions that are given must all hold.
package struct AuditQuery: Equatable, Sendable {
    /// Only rows before this number.
    package var before: Int64?
    /// Only rows after this number, the oldest first; without it, the newest come first.
    package var after: Int64?
    /// Unix nanoseconds.
    package var since: Int64?
    package var until: Int64?
    /// The number or the name of a user, a session, or a way such as `web`.
    package var actor: String?
    package var verb: String?
    /// With `*` at its end, how the target begins.
    package var target: String?
    /// Only what was changed: what is stored or done, without logins.
    package var onlyChanges = false
    package var limit: Int

    /// The most rows that one answer looks at.
    package static let scanMax = 20_000

    package init(limit: Int) { self.limit = limit }

    package func matches(_ entry: AuditEntry) -> Bool {
        if let since, entry.at < since { return false }
        if let until, entry.at >= until { return false }
        if onlyChanges, !Self.isChange(entry) { return false }
        if let verb, entry.verb != verb { return false }
        if let actor, !Self.names(actor, entry.actor) { return false }
        guard let target else { return true }
        return target.hasSuffix("*")
            ? entry.target.hasPrefix(target.dropLast()) : entry.target == target
    }

    private static func isChange(_ entry: AuditEntry) -> Bool {
        [.stored, .done].contains(entry.status)
            && !["login", "logout", "ticket"].contains(entry.verb)
    }

    private static func names(_ text: String, _ actor: AuditActor) -> Bool {
        text == actor.way.rawValue || text == actor.user && !text.isEmpty
            || text == actor.session && !text.isEmpty || actor.uid.map { String($0) } == text
    }
}

/// Rows of the audit.
package struct AuditPage: Equatable, Sendable {
    package var rows: [AuditRow]
    /// Where the next page begins: its `before`, or its `after` if the question had one; `nil` at the end.
    package var next: Int64?
    /// The number of the newest row; 0 if there is none.
    package var newest: Int64

    package init(rows: [AuditRow] = [], next: Int64? = nil, newest: Int64 = 0) {
        self.rows = rows
        self.next = next
        self.newest = newest
    }
}

/// The last row of the chain that is known.
package struct AuditHead: Equatable, Sendable {
    package var seq: Int64
    package var sum: [UInt8]

    package init(seq: Int64, sum: [UInt8]) {
        self.seq = seq
        self.sum = sum
    }

    /// Such as `812:9f2c…`, with all 64 digits.
    package var text: String { "\(seq):\(Self.digits(sum))" }

    /// Reads ``text``; `nil` if it is none.
    package init?(text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let seq = Int64(parts[0]), seq > 0, parts[1].utf8.count == 64
        else { return nil }
        var sum: [UInt8] = []
        var digits = parts[1].utf8.makeIterator()
        while let high = digits.next(), let low = digits.next() {
            guard let high = Self.value(high), let low = Self.value(low) else { return nil }
            sum.append(high << 4 | low)
        }
        self.init(seq: seq, sum: sum)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Lower-case hexadecimal digits.
    package static func digits(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// What a look at the whole chain found.
package struct AuditVerdict: Equatable, Sendable {
    /// The first place where the chain is broken.
    package struct Break: Equatable, Sendable {
        package var seq: Int64
        /// One sentence without a full stop.
        package var what: String

        package init(seq: Int64, what: String) {
            self.seq = seq
            self.what = what
        }
    }

    /// The rows that were compared.
    package var rows: Int64 = 0
    /// The rows that were deleted for their age or number, before the first.
    package var deleted: Int64 = 0
    /// The last row; `nil` if there is none.
    package var head: AuditHead?
    package var firstBreak: Break?

    package init() {}
}
