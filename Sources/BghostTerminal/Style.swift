// SPDX-License-Identifier: Apache-2.0

/// When to use colour.
package enum ColorChoice: String, Equatable, Sendable, CaseIterable {
    case auto, always, never

    /// The choice in a command line that may be invalid.
    package init(in arguments: some Sequence<String>) {
        var isNext = false
        var choice = ColorChoice.auto
        for argument in arguments where argument != "--" {
            if isNext { choice = ColorChoice(rawValue: argument) ?? choice }
            isNext = argument == "--color"
            if argument.hasPrefix("--color=") {
                choice = ColorChoice(rawValue: String(argument.dropFirst(8))) ?? choice
            }
        }
        self = choice
    }
}

/// The capabilities of an output stream.
package struct Style: Equatable, Sendable {
    package var hasColor: Bool
    package var hasUnicode: Bool
    /// The width of the terminal, columns; `nil` if the stream is no terminal.
    package var width: Int?

    package init(hasColor: Bool, hasUnicode: Bool, width: Int? = nil) {
        self.hasColor = hasColor
        self.hasUnicode = hasUnicode
        self.width = width
    }

    /// Determines the capabilities of a stream.
    ///
    /// - Parameters:
    ///   - isTerminal: whether this stream is a terminal.
    ///   - environment: looks up a variable; `nil` if it is unset or empty.
    package init(choice: ColorChoice, isTerminal: Bool, environment: (String) -> String?) {
        hasColor =
            switch choice {
            case .always: true
            case .never: false
            case .auto:
                if environment("NO_COLOR") != nil {
                    false
                } else if let forced = environment("FORCE_COLOR") {
                    forced != "0" && forced != "false"
                } else {
                    isTerminal && environment("TERM") != "dumb"
                }
            }
        let locale = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? ""
        let charset = locale.lowercased()
        hasUnicode = charset.contains("utf-8") || charset.contains("utf8")
    }

    /// The colour or weight of a text.
    package enum Tone: String, Sendable {
        case good = "32"
        case warning = "33"
        case bad = "31"
        case dim = "2"
        case strong = "1"
    }

    package func painted(_ text: String, _ tone: Tone?) -> String {
        guard hasColor, let tone, !text.isEmpty else { return text }
        return "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m"
    }

    /// A sign that is understandable without colour.
    package enum Mark: Sendable {
        case good, warning, bad, none
    }

    /// A text that is at most so many columns wide; a longer one ends with a sign that it was cut.
    package func cut(_ text: String, to width: Int) -> String {
        guard DisplayWidth.of(text) > width else { return text }
        let mark = hasUnicode ? "…" : "..."
        var kept = ""
        var room = width - mark.count
        for character in text {
            room -= DisplayWidth.of(String(character))
            guard room >= 0 else { break }
            kept.append(character)
        }
        return kept + mark
    }

    /// The text of a sign, one column wide.
    package func text(_ mark: Mark) -> String {
        switch mark {
        case .good: hasUnicode ? "✓" : "+"
        case .warning: "!"
        case .bad: hasUnicode ? "✗" : "x"
        case .none: " "
        }
    }

    package func tone(_ mark: Mark) -> Tone? {
        switch mark {
        case .good: .good
        case .warning: .warning
        case .bad: .bad
        case .none: nil
        }
    }

    package func painted(_ mark: Mark) -> String { painted(text(mark), tone(mark)) }
}
