// SPDX-License-Identifier: Apache-2.0

extension Sequence<UInt8> {
    /// The bytes in lowercase hexadecimal digits, two for each.
    package var hexText: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
