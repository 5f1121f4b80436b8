// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostTerminal

/// The text output of `bghost transfers`.
package struct TransfersView {
    private let views: [TransferView]
    /// Unix nanoseconds.
    private let now: Int64

    package init(_ views: [TransferView], now: Int64) {
        self.views = views
        self.now = now
    }

    package func text(_ style: Style) -> String {
        guard !views.isEmpty else { return "no transfers\n" }
        var table = TextTable(
            header: [" ", "ID", "PLUGIN", "SESSION", "STATE", "PROGRESS", "SINCE", "WHAT", "WHY"]
        )
        for view in views {
            let mark = mark(view)
            table.add([
                .init(style.text(mark), style.tone(mark)),
                .init(String(view.id.description.suffix(26))),
                .init(TerminalText.escaped(view.plugin)),
                .init(TerminalText.escaped(view.session)),
                .init(view.stateName + (view.isAwaited && !view.isOver ? ", awaited" : "")),
                .init(Self.progress(view, style)),
                .init(HumanText.time(view.endedAt ?? view.createdAt, now: now)),
                .init(Self.name(view)),
                .init(TerminalText.escaped(why(view)), .dim),
            ])
        }
        return table.text(style)
    }

    /// All details of each transfer.
    package func details(_ style: Style) -> String {
        views.map { view in
            var lines = [
                ("transfer", view.id.description), ("plugin", view.plugin),
                ("session", view.session), ("label", view.label),
                (view.isUpload ? "upload of" : "download to", view.file), ("url", view.url),
                ("state", view.stateName + (view.isAwaited && !view.isOver ? ", awaited" : "")),
                ("progress", Self.progress(view, style)), ("waits for", view.waitingFor),
                ("status", view.status == 0 ? "" : "\(view.status)"), ("fault", view.fault),
                ("failures", view.failures == 0 ? "" : "\(view.failures)"),
                ("created", HumanText.time(view.createdAt, now: now)),
            ]
            if let end = view.endedAt { lines.append(("ended", HumanText.time(end, now: now))) }
            return lines.filter { !$0.1.isEmpty }.map { key, value in
                let fill = String(repeating: " ", count: max(1, 13 - key.utf8.count))
                return style.painted(key, .dim) + fill + TerminalText.escaped(value) + "\n"
            }.joined()
        }.joined(separator: "\n")
    }

    private func mark(_ view: TransferView) -> Style.Mark {
        switch view.stateName {
        case "done": .good
        case "failed", "cancelled": .bad
        case "retrying": .warning
        default: .none
        }
    }

    private func why(_ view: TransferView) -> String {
        [view.waitingFor, view.stateName == "active" ? "" : view.fault].filter { !$0.isEmpty }
            .joined(separator: "; ")
    }

    /// What a transfer does and how far it is, or how it ended, without its id.
    package static func standing(_ view: TransferView, _ style: Style) -> String {
        let what = (view.isUpload ? "upload of " : "download of ") + name(view)
        guard view.isOver else { return "\(what): \(progress(view, style))" }
        let fault = view.fault.isEmpty ? "" : ": " + TerminalText.escaped(view.fault)
        let bytes =
            view.stateName == "done" ? ", \(HumanText.bytes(UInt64(max(0, view.bytes))))" : ""
        return "\(what) \(view.stateName)\(bytes)\(fault)"
    }

    private static func name(_ view: TransferView) -> String {
        TerminalText.escaped(view.label.isEmpty ? view.url : view.label)
    }

    // MARK: Progress

    private static let barWidth = 20

    /// A bar, the percentage and the bytes, if they are known.
    package static func progress(_ view: TransferView, _ style: Style) -> String {
        let bytes = HumanText.bytes(UInt64(max(0, view.bytes)))
        guard let total = view.total, let percent = view.percent else { return bytes }
        let filled = percent * barWidth / 100
        let full = String(repeating: style.hasUnicode ? "█" : "#", count: filled)
        let rest = String(repeating: style.hasUnicode ? "░" : ".", count: barWidth - filled)
        let whole = HumanText.bytes(UInt64(max(0, total)))
        return full + rest + " \(percent) %, \(bytes) of \(whole)"
    }

    /// A line for a log, which is never overwritten.
    package static func line(_ view: TransferView, percent: Int) -> String {
        "\(view.id) \(percent) % \(name(view))\n"
    }

    /// A line for the end of a transfer.
    package static func end(_ view: TransferView) -> String {
        let fault = view.fault.isEmpty ? "" : ": " + TerminalText.escaped(view.fault)
        return "\(view.id) \(view.stateName) \(name(view))\(fault)\n"
    }
}
