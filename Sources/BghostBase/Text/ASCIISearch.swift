// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// The first range of an ASCII text.
    ///
    /// It compares bytes, so a character that combines with the end of the text, such as an accent,
    /// cannot hide it.
    package func firstRange(ofASCII text: String) -> Range<String.Index>? {
        let wanted = text.utf8
        var start = utf8.startIndex
        while start < utf8.endIndex {
            if utf8[start...].starts(with: wanted) {
                return start..<utf8.index(start, offsetBy: wanted.count)
            }
            start = utf8.index(after: start)
        }
        return nil
    }

    /// Whether the string contains an ASCII text.
    package func containsASCII(_ text: String) -> Bool { firstRange(ofASCII: text) != nil }
}
