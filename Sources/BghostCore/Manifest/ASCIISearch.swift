// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// Where an ASCII text stands first.
    ///
    /// It compares bytes: what follows the text, such as a combining accent, cannot hide it.
    func firstRange(ofASCII text: String) -> Range<String.Index>? {
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

    /// Whether an ASCII text stands anywhere.
    func containsASCII(_ text: String) -> Bool { firstRange(ofASCII: text) != nil }
}
