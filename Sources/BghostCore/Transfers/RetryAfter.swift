// SPDX-License-Identifier: Apache-2.0

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
