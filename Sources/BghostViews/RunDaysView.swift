// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostModel
package import BghostTerminal

/// The text output of `bghost runs --by-day`.
package struct RunDaysView {
    package let list: API.RunDays

    package init(_ list: API.RunDays) { self.list = list }

    package func text(_ style: Style) -> String {
        let more = NextPageView(next: list.next).text
        guard !list.days.isEmpty else {
            return more.isEmpty ? "no run has ended on these days\n" : more
        }
        var table = TextTable(header: [
            "DAY (UTC)", "TASK", "RUNS", "SUCCEEDED", "OTHERS", "RUN TIME", "LONGEST", "CPU",
        ])
        for row in list.days {
            table.add([
                .init(RunDay.text(ofDay: row.day)),
                row.task.isEmpty
                    ? .init("all other tasks", .dim) : .init(TerminalText.escaped(row.task)),
                .init("\(row.runs)"),
                .init("\(row.succeeded)"),
                .init(Self.others(of: row)),
                .init(HumanText.duration(row.runtimeSeconds)),
                .init(HumanText.duration(row.longestSeconds)),
                .init(HumanText.duration(row.cpuSeconds)),
            ])
        }
        return table.text(style) + more
    }

    /// The outcomes besides success, such as `2 failed, 1 killed`; "" if there are none.
    private static func others(of row: API.RunDay) -> String {
        [
            (row.failed, "failed"), (row.cancelled, "cancelled"), (row.killed, "killed"),
            (row.crashed, "crashed"), (row.lost, "lost"), (row.abandoned, "abandoned"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
