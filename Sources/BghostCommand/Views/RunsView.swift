// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel

/// The text output of `bghost runs`.
struct RunsView {
    let runs: [RunRecord]
    /// Unix nanoseconds.
    let now: Int64

    init(runs: [RunRecord], now: Int64) {
        self.runs = runs
        self.now = now
    }

    func text(_ style: Style) -> String {
        guard !runs.isEmpty else { return "no runs yet\n" }
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
        return table.text(style)
    }
}
