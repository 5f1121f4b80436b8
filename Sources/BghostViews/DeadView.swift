// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
package import BghostModel
package import BghostTerminal

/// The text output of `bghost dead`.
package struct DeadView {
    package let letters: [DeadLetter]
    /// The cursor of the next page; `nil` if there is none.
    package let next: String?
    /// Unix nanoseconds.
    package let now: Int64

    package init(letters: [DeadLetter], next: String? = nil, now: Int64) {
        self.letters = letters
        self.next = next
        self.now = now
    }

    package func text(_ style: Style) -> String {
        let more = NextPageView(next: next).text
        guard !letters.isEmpty else { return more.isEmpty ? "no dead letters\n" : more }
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
        return table.text(style) + more
    }
}
