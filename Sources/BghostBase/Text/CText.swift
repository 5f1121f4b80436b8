// SPDX-License-Identifier: Apache-2.0

/// Copies text to C arrays.
package enum CText {
    /// Fills a C array with a text, truncated if necessary, and with at least one NUL.
    package static func copy<Characters>(_ text: String, to place: inout Characters) {
        withUnsafeMutableBytes(of: &place) { place in
            place.initializeMemory(as: UInt8.self, repeating: 0)
            place.copyBytes(from: text.utf8.prefix(place.count - 1))
        }
    }
}
