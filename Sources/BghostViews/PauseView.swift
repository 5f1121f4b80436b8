// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostModel
internal import BghostPolicy
package import BghostTerminal

/// The text output of `bghost pause` and `bghost resume`.
package struct PauseView {
    private let pauses: [Pause]
    /// Unix nanoseconds.
    private let now: Int64

    package init(pauses: [Pause], now: Int64) {
        self.pauses = pauses
        self.now = now
    }

    /// The output of `bghost pause --list`.
    package func text(_ style: Style) -> String {
        guard !pauses.isEmpty else { return "nothing is paused\n" }
        var table = TextTable(header: ["PAUSED", "SINCE", "UNTIL", "BY", "REASON"])
        for pause in pauses {
            table.add([
                .init(TerminalText.escaped(pause.target.subject), .warning),
                .init(HumanText.time(pause.since, now: now)),
                .init(pause.until.map { HumanText.time($0, now: now) } ?? "resumed"),
                .init(TerminalText.escaped(pause.user)),
                .init(TerminalText.escaped(pause.reason)),
            ])
        }
        return table.text(style)
    }

    package static func begun(_ change: PauseChange, now: Int64) -> String {
        let pause = change.pause
        let end = pause.until.map {
            " until \(Timestamp.text(unixNanoseconds: $0)) (\(HumanText.time($0, now: now)))"
        }
        var text =
            "\(TerminalText.escaped(pause.target.subject)) is paused\(end ?? "");"
            + " `\(TerminalText.escaped(pause.target.resumeCommand))` ends the pause\n"
        for run in change.running { text += "run \(run) continues\n" }
        return text + also(change.others)
    }

    package static func ended(_ change: PauseChange, now: Int64) -> String {
        let pause = change.pause
        return "the pause of \(TerminalText.escaped(pause.target.subject)), begun"
            + " \(HumanText.time(pause.since, now: now)), has ended\n" + also(change.others)
    }

    /// The other pauses of the same tasks.
    private static func also(_ others: [Pause]) -> String {
        others.map { other in
            "it is also paused with \(TerminalText.escaped(other.target.subject));"
                + " `\(TerminalText.escaped(other.target.resumeCommand))` ends that\n"
        }.joined()
    }

    /// Lines for `bghost status`, one for each pause.
    package func lines(_ style: Style) -> String {
        pauses.map { pause in
            let end = pause.until.map { ", ends \(HumanText.time($0, now: now))" } ?? ""
            let reason = pause.reason.isEmpty ? "" : ": \(TerminalText.escaped(pause.reason))"
            return
                "\(style.painted(.warning)) \(TerminalText.escaped(pause.target.subject)) is paused since"
                + " \(HumanText.time(pause.since, now: now)) by \(TerminalText.escaped(pause.user))"
                + "\(end)\(reason)\n"
        }.joined()
    }
}
