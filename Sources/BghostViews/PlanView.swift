// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostPolicy
package import BghostSimulation
package import BghostTerminal

/// The text output of `bghost plan`.
package struct PlanView {
    package let plan: SchedulePlan

    package init(plan: SchedulePlan) {
        self.plan = plan
    }

    package func text(_ style: Style) -> String {
        guard !plan.starts.isEmpty else { return "nothing comes by itself in that time\n" }
        var table = TextTable(header: ["START", "ZONE", "TASK", "NOTE"])
        for start in plan.starts {
            table.add([
                .init(Self.local(start)),
                .init(TerminalText.escaped(start.zone)),
                .init(TerminalText.escaped(start.task)),
                .init(start.note, .dim),
            ])
        }
        return table.text(style) + (plan.isCutOff ? "and more; --limit shows them\n" : "")
    }

    /// The local time of the zone, with its offset: `2026-11-21 12:00:00 +01:00`.
    private static func local(_ start: SchedulePlan.Start) -> String {
        let shown = start.start.addingReportingOverflow(start.zoneOffset * 1_000_000_000)
        let text = Timestamp.text(unixNanoseconds: shown.partialValue)
        let minutes = abs(start.zoneOffset) / 60
        let sign = start.zoneOffset < 0 ? "-" : "+"
        let offset = sign + padded(minutes / 60) + ":" + padded(minutes % 60)
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8) + " " + offset
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
