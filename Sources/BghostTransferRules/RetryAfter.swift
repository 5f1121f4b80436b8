// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Reads the delay that a server requests before the next attempt (`Retry-After`).
package enum RetryAfter {
    /// The delay, nanoseconds from now; `nil` if the field is missing or malformed.
    ///
    /// - Parameter unixNow: the current time, Unix nanoseconds; used only if the response has no `Date`.
    package static func delay(_ head: AnswerHead, unixNow: Int64) -> UInt64? {
        guard let text = head["retry-after"] else { return nil }
        if let seconds = Int64(digits: text) { return nanoseconds(seconds) }
        guard let then = HTTPDate.unixSeconds(text) else { return nil }
        let now = head["date"].flatMap(HTTPDate.unixSeconds) ?? unixNow / 1_000_000_000
        return nanoseconds(max(0, then - now))
    }

    private static func nanoseconds(_ seconds: Int64) -> UInt64 {
        // The limit of one year is longer than any transfer, and prevents an overflow of sums.
        UInt64(min(seconds, 366 * 86_400)) * 1_000_000_000
    }
}
