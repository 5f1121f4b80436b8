// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostRecords

/// `bghost throttle` for people.
package struct ThrottleView {
    package let throttles: [ThrottleStatus]
    /// Unix nanoseconds.
    package let now: Int64

    package init(throttles: [ThrottleStatus], now: Int64) {
        self.throttles = throttles
        self.now = now
    }

    package func text(_ style: Style) -> String {
        let owing = throttles.filter { $0.points > 0 }
        guard !owing.isEmpty else { return "nothing is owed\n" }
        var table = TextTable(header: ["TASK", "POINTS", "DELAY", "NEXT START", "FOR"])
        for throttle in owing {
            let causes = throttle.causes.map { cause in
                "\(cause.outcome.text) \(HumanText.time(cause.endedAt, now: now))"
            }
            table.add([
                .init(TerminalText.escaped(throttle.task)),
                .init("\(throttle.points)"),
                .init(HumanText.duration(throttle.delay)),
                .init(throttle.nextStart.map { HumanText.time($0, now: now) } ?? "now"),
                .init(causes.joined(separator: ", "), .dim),
            ])
        }
        return table.text(style)
    }
}
