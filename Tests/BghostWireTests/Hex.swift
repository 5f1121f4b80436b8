// SPDX-License-Identifier: Apache-2.0

/// Bytes as people write them.
enum Hex {
    /// Reads pairs of digits; spaces and line ends may stand anywhere.
    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue).map { UInt8($0) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    static func text(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(separator: " ")
    }
}
