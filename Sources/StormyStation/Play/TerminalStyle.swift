// SPDX-License-Identifier: Apache-2.0

/// The capabilities of an output stream.
package struct TerminalStyle: Equatable, Sendable {
    package var unicode: Bool
    package var colour: Bool

    package init(unicode: Bool, colour: Bool) {
        self.unicode = unicode
        self.colour = colour
    }

    /// - Parameters:
    ///   - isTerminal: whether this stream is a terminal.
    ///   - variable: returns the value of an environment variable.
    package init(isTerminal: Bool, variable: (String) -> String?) {
        func set(_ name: String) -> String? {
            variable(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        // The first variable that is set takes precedence, as in setlocale(3).
        let locale = (set("LC_ALL") ?? set("LC_CTYPE") ?? set("LANG") ?? "").lowercased()
        unicode = locale.hasSuffix("utf-8") || locale.hasSuffix("utf8")
        colour = isTerminal && set("NO_COLOR") == nil && set("TERM") != "dumb"
    }

    func mark(_ good: Bool) -> String {
        let sign = unicode ? (good ? "✓" : "✗") : (good ? "ok" : "!!")
        return paint(sign, good ? "32" : "31")
    }

    /// The prefix of the player's actions.
    var arrow: String { unicode ? "▸" : ">" }

    func dimmed(_ text: String) -> String { paint(text, "2") }

    private func paint(_ text: String, _ code: String) -> String {
        colour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// Untrusted text in a form that is safe for a terminal: one line, no control characters, ASCII if the
    /// terminal shows nothing else, at most `width` characters.
    func shown(_ text: String, width: Int = 400) -> String {
        let clean = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "?"
                    default: unicode || scalar.isASCII ? scalar : "?"
                    }
                }
            )
        )
        guard clean.count > width else { return clean }
        let ellipsis = unicode ? "…" : "..."
        return clean.prefix(width - ellipsis.count) + ellipsis
    }
}
