// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
package import BghostPolicy
package import BghostTerminal

/// The text output of `bghost dead`.
package struct DeadView {
    package let letters: [DeadLetter]
    /// Unix nanoseconds.
    package let now: Int64

    package init(letters: [DeadLetter], now: Int64) {
        self.letters = letters
        self.now = now
    }

    package func text(_ style: Style) -> String {
        guard !letters.isEmpty else { return "no dead letters\n" }
        var table = TextTable(header: ["REQUEST", "TASK", "DIED", "REASON", "LAST RUN"])
        for letter in letters {
            table.add([
                .init(letter.request.id.description),
                .init(TerminalText.escaped(letter.request.task)),
                .init(HumanText.time(letter.diedAt, now: now)),
                .init(TerminalText.escaped(letter.reason), .bad),
                .init(letter.run.description, .dim),
            ])
        }
        return table.text(style)
    }
}
