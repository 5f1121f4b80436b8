// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostModel
package import BghostTerminal

/// The text output of `bghost runs`.
package struct RunsView {
    package let list: API.RunList
    /// Whether there may be runs that the question did not select.
    package let isFiltered: Bool
    /// Unix nanoseconds.
    package let now: Int64

    package init(_ list: API.RunList, isFiltered: Bool, now: Int64) {
        self.list = list
        self.isFiltered = isFiltered
        self.now = now
    }

    package func text(_ style: Style) -> String {
        let runs = list.runs.map(\.record)
        guard !runs.isEmpty else {
            return (isFiltered ? "no such runs\n" : "no runs yet\n") + end
        }
        var table = TextTable(header: [
            " ", "RUN", "TASK", "OUTCOME", "STARTED", "TIME", "LIMIT", "MEMORY", "MESSAGE",
        ])
        for run in runs {
            table.add([
                .init(style.text(run.mark), style.tone(run.mark)),
                .init(run.id.description),
                .init(TerminalText.escaped(run.task)),
                .init(run.standing, style.tone(run.mark)),
                .init(run.startedAt.map { HumanText.time($0, now: now) } ?? ""),
                .init(run.elapsed(now: now)),
                .init(HumanText.duration(run.limits.runtime)),
                .init(run.usage.peakMemoryBytes.map(HumanText.bytes) ?? ""),
                .init(run.safeMessage, .dim),
            ])
        }
        return table.text(style) + end
    }

    /// Where the list ends, if there may be more.
    private var end: String {
        guard let next = list.next else { return "" }
        guard let date = list.searchedTo else { return "older ones: --before \(next)\n" }
        return
            "searched \(RunQuery.readMax) runs, back to \(Timestamp.text(unixNanoseconds: date));"
            + " --before \(next) continues\n"
    }
}
