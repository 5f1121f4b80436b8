// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
package import BghostSimulation
package import BghostTerminal

/// The text output of `bghost plan`.
package struct PlanView {
    package let plan: SchedulePlan

    package init(plan: SchedulePlan) {
        self.plan = plan
    }

    package func text(_ style: Style) -> String {
        let changes = plan.clockChanges.map(Self.text).joined()
        guard !plan.starts.isEmpty else {
            return "nothing comes by itself in that time\n" + changes
        }
        var table = TextTable(header: ["START", "ZONE", "TASK", "NOTE"])
        for start in plan.starts {
            table.add([
                .init(Self.local(start.start, offset: start.zoneOffset)),
                .init(TerminalText.escaped(start.zone)),
                .init(TerminalText.escaped(start.task)),
                .init(Self.note(start), .dim),
            ])
        }
        return table.text(style) + (plan.isCutOff ? "and more; --limit shows them\n" : "") + changes
    }

    private static func note(_ start: SchedulePlan.Start) -> String {
        guard let latest = start.latest else { return start.note }
        let end = local(latest, offset: start.zoneOffset)
        let text = "at random until " + end.dropFirst(11).prefix(8)
        return start.note.isEmpty ? text : "\(text); \(start.note)"
    }

    /// A change of the clock, and the starts that it skips, in one line.
    private static func text(_ change: SchedulePlan.ClockChange) -> String {
        let zone = TerminalText.escaped(change.zone)
        let direction = change.offsetAfter > change.offsetBefore ? "forward" : "back"
        let skipped = change.skipped.map(TerminalText.escaped).joined(separator: ", ")
        let time = local(change.at, offset: change.offsetAfter)
        return "clocks of \(zone) go \(direction), to \(time)"
            + (skipped.isEmpty ? "\n" : "; skips a start of \(skipped)\n")
    }

    /// A time of a zone, with its offset: `2026-11-21 12:00:00 +01:00`.
    ///
    /// - Parameters:
    ///   - time: Unix nanoseconds.
    ///   - offset: seconds east of UTC.
    private static func local(_ time: Int64, offset: Int64) -> String {
        let shown = time.addingReportingOverflow(offset * 1_000_000_000)
        let text = Timestamp.text(unixNanoseconds: shown.partialValue)
        let minutes = abs(offset) / 60
        let sign = offset < 0 ? "-" : "+"
        let offset = sign + padded(minutes / 60) + ":" + padded(minutes % 60)
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8) + " " + offset
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
