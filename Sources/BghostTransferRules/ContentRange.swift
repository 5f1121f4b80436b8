// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The byte range of a response (`Content-Range`), and the length of the whole file.
package struct ContentRange: Equatable, Sendable {
    /// The first and last byte; `nil` if the response contains no range.
    package var bytes: ClosedRange<Int64>?
    /// The length of the whole file, bytes; `nil` if the server does not know it.
    package var total: Int64?

    /// Parses `bytes 0-499/1234`, `bytes 0-499/*` or `bytes */1234`; `nil` for other texts and for impossible
    /// ranges.
    package init?(_ text: String) {
        guard text.utf8.count <= 80, text.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] != "*" {
            guard let total = Int64(digits: parts[1]) else { return nil }
            self.total = total
        }
        guard parts[0] != "*" else {
            if total == nil { return nil }
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int64(digits: ends[0]),
            let last = Int64(digits: ends[1]), first <= last, last < total ?? .max
        else { return nil }
        bytes = first...last
    }
}
