// SPDX-License-Identifier: Apache-2.0

import BghostBase

extension FuzzTarget {
    /// A line that a handler or a plugin wrote, on its way to a log.
    static let text = FuzzTarget("text", bytesMax: 8 << 10) { bytes throws(BrokenProperty) in
        let text = String(decoding: bytes, as: UTF8.self)
        try checkEscape(text, PrintableText.escaped)
    }

    /// What holds of each way to make a text harmless.
    package static func checkEscape(
        _ text: String,
        _ escape: (String) -> String
    ) throws(BrokenProperty) {
        let once = escape(text)
        if !text.isEmpty { try MessageText.check(once, bytesMax: 10 * text.utf8.count) }
        try require(
            escape(once).utf8.elementsEqual(once.utf8),
            "what is harmless is escaped again: \(once)"
        )
        // Nothing is lost: what was harmless stands there as it was, in its order.
        let kept = text.unicodeScalars.filter { !MessageText.steersTerminal($0) }
        var rest = once.unicodeScalars[...]
        for scalar in kept {
            guard let place = rest.firstIndex(of: scalar) else {
                throw BrokenProperty("\(scalar.debugDescription) is lost")
            }
            rest = rest[rest.index(after: place)...]
        }
    }
}
