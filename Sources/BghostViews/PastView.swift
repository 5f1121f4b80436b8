// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostTerminal

/// The text output of `bghost runs --skipped`.
package struct SkippedStartsView {
    package let list: API.StartList
    /// Unix nanoseconds.
    package let now: Int64

    package init(_ list: API.StartList, now: Int64) {
        self.list = list
        self.now = now
    }

    package func text(_ style: Style) -> String {
        let more = NextPageView(next: list.next).text
        guard !list.starts.isEmpty else {
            return more.isEmpty ? "no start was skipped or late\n" : more
        }
        var table = TextTable(header: ["TASK", "DUE", "WHAT", "COUNT", "DETAILS"])
        for start in list.starts {
            table.add([
                .init(TerminalText.escaped(start.task)),
                .init(HumanText.time(start.due, now: now)),
                .init(TerminalText.escaped(start.what)),
                .init("\(start.count)"),
                .init(TerminalText.escaped(start.sentence), .dim),
            ])
        }
        return table.text(style) + more
    }
}

/// The text output of `bghost why --at`.
package struct PastView {
    package let past: API.Past

    package init(past: API.Past) { self.past = past }

    package func text(_ style: Style) -> String {
        let name = style.painted(TerminalText.escaped(past.task), .strong)
        let date = Timestamp.text(unixNanoseconds: past.at)
        var text = "\(name) around \(date):\n\(TerminalText.escaped(past.sentence))\n"
        for start in past.starts.dropFirst() {
            let due = Timestamp.text(unixNanoseconds: start.due)
            text += "also due at \(due): \(TerminalText.escaped(start.sentence))\n"
        }
        if let run = past.run { text += "`bghost show \(run.id)` shows the run\n" }
        return text
    }
}
