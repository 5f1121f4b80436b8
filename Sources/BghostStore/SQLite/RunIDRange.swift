// SPDX-License-Identifier: Apache-2.0

internal import BghostCore

/// The ids whose text begins with some characters.
enum RunIDRange {
    private static let length = 26

    /// `nil` if there is none.
    static func ids(beginningWith prefix: String) -> ClosedRange<RunID>? {
        let count = prefix.utf8.count
        guard count <= length,
            let first = RunID(prefix + String(repeating: "0", count: length - count))
        else { return nil }
        // 26 characters hold 130 bits: the first stands for three.
        let last = RunID(prefix + String(repeating: "Z", count: length - count))
        return first...(last ?? RunID(high: .max, low: .max))
    }
}
