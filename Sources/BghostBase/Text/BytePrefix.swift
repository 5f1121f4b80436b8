// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The beginning of the text that fits into a number of bytes of UTF-8, without a part of a scalar.
    package func prefix(bytes most: Int) -> String {
        guard utf8.count > most else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: max(0, most))
        while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(unicodeScalars[..<end])
    }

    /// The same, with an ellipsis in place of what does not fit.
    ///
    /// - Parameter most: at least 3, the size of the ellipsis.
    package func shortened(toBytes most: Int) -> String {
        utf8.count > most ? prefix(bytes: most - 3) + "…" : self
    }
}
