// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostModel
package import BghostTerminal

/// The text output of `bghost throttle`.
package struct ThrottleView {
    package let throttles: [ThrottleStatus]
    /// Unix nanoseconds.
    package let now: Int64

    package init(throttles: [ThrottleStatus], now: Int64) {
        self.throttles = throttles
        self.now = now
    }

    package func text(_ style: Style) -> String {
        let shown = throttles.filter { $0.points > 0 }
        guard !shown.isEmpty else { return "no task is throttled\n" }
        var table = TextTable(header: ["TASK", "POINTS", "DELAY", "NEXT START", "RUNS"])
        for throttle in shown {
            let runs = throttle.runs.map { run in
                "\(run.run) \(run.sentence), \(HumanText.time(run.endedAt, now: now))"
            }
            table.add([
                .init(TerminalText.escaped(throttle.task)),
                .init("\(throttle.points)"),
                .init(HumanText.duration(throttle.delay)),
                .init(nextStart(throttle)),
                .init(runs.first ?? "", .dim),
            ])
            for run in runs.dropFirst() {
                table.add([.init(""), .init(""), .init(""), .init(""), .init(run, .dim)])
            }
        }
        return table.text(style)
    }

    private func nextStart(_ throttle: ThrottleStatus) -> String {
        let start = throttle.nextStart.map { HumanText.time($0, now: now) } ?? "now"
        return switch throttle.mode {
        case .on: start
        case .dryRun: "\(start) (dry run: now)"
        case .off: "now (off)"
        }
    }
}
