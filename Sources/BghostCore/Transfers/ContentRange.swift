// SPDX-License-Identifier: Apache-2.0

/// Which bytes of how many an answer has.
package struct ContentRange: Equatable, Sendable {
    /// The first and last byte; `nil` in an answer that has none.
    package var bytes: ClosedRange<Int64>?
    /// `nil` if the server does not know.
    package var total: Int64?

    /// Reads `bytes 0-499/1234`, `bytes 0-499/*` or `bytes */1234`; `nil` for anything else, and
    /// for ranges that cannot be.
    package init?(_ text: String) {
        guard text.utf8.count <= 80, text.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] != "*" {
            guard let total = AnswerHead.number(parts[1]) else { return nil }
            self.total = total
        }
        guard parts[0] != "*" else {
            if total == nil { return nil }
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = AnswerHead.number(ends[0]),
            let last = AnswerHead.number(ends[1]), first <= last, last < total ?? .max
        else { return nil }
        bytes = first...last
    }
}
