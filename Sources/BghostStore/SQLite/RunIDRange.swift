// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The range of the ids whose text starts with a prefix.
enum RunIDRange {
    private static let length = 26

    /// The range; `nil` if no id starts with the prefix.
    static func ids(beginningWith prefix: String) -> ClosedRange<RunID>? {
        let count = prefix.utf8.count
        guard count <= length,
            let first = RunID(prefix + String(repeating: "0", count: length - count))
        else { return nil }
        // 26 characters hold 130 bits: the first character represents three bits only.
        let last = RunID(prefix + String(repeating: "Z", count: length - count))
        return first...(last ?? RunID(high: .max, low: .max))
    }
}
