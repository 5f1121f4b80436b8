// SPDX-License-Identifier: Apache-2.0

/// Formats counts for people: `1 run`, `2 runs`, `0 retries`.
package enum CountText {
    /// - Parameters:
    ///   - noun: the singular.
    ///   - plural: by default the singular with an `s`.
    package static func of(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil)
        -> String
    {
        count == 1 ? "1 \(noun)" : "\(count) \(plural ?? noun + "s")"
    }
}
