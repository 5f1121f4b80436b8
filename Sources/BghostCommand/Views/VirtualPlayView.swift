// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel
internal import BghostSimulation
internal import BghostTerminal

/// The summary of `bghost run --virtual-clock`.
struct VirtualPlayView {
    let result: VirtualPlay.Result

    init(result: VirtualPlay.Result) {
        self.result = result
    }

    private var tasks: [(name: String, counts: Simulation.TaskCounts)] {
        result.counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The summary as text.
    func text(_ style: Style) -> String {
        guard !tasks.isEmpty else {
            return "nothing comes by itself in that time: the manifest has no schedule\n"
        }
        var table = TextTable(header: ["TASK", "RUNS", "OUTCOMES", "MISSED", "DEAD", "LATEST BY"])
        for (name, counts) in tasks {
            table.add([
                .init(TerminalText.escaped(name)),
                .init("\(counts.runs)"),
                .init(Self.outcomes(counts)),
                .init(counts.missed == 0 ? "" : "\(counts.missed)"),
                .init(counts.dead == 0 ? "" : "\(counts.dead)"),
                .init(HumanText.duration(.nanoseconds(counts.latest))),
            ])
        }
        let runs = tasks.reduce(0) { $0 + $1.counts.runs }
        return table.text(style) + "\(runs) runs; \(result.pending) requests wait at the end\n"
            + faults(style)
    }

    private func faults(_ style: Style) -> String {
        guard !result.faults.isEmpty else { return "" }
        let first = result.faults.prefix(5).map { "  \($0)\n" }.joined()
        return style.painted("\(result.faults.count) transitions must not be:", .bad) + "\n" + first
    }

    private static func outcomes(_ counts: Simulation.TaskCounts) -> String {
        counts.outcomes.map { ($0.key.text, $0.value) }.sorted { $0.0 < $1.0 }
            .map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }

    /// The summary as a JSON object.
    var json: String {
        APICoder.text(
            Schema.simulation,
            API.SimulationSummary(
                seed: "\(result.seed)",
                from: result.from,
                through: result.through,
                tasks: tasks.map(Self.element),
                pending: Int(result.pending),
                faults: result.faults.count
            )
        )
    }

    private static func element(_ name: String, _ counts: Simulation.TaskCounts)
        -> API.SimulatedTask
    {
        API.SimulatedTask(
            task: name,
            runs: counts.runs,
            outcomes: Dictionary(
                counts.outcomes.map { ($0.key.text, $0.value) },
                uniquingKeysWith: +
            ),
            missed: counts.missed,
            dead: counts.dead,
            latestByMilliseconds: counts.latest / 1_000_000
        )
    }
}
