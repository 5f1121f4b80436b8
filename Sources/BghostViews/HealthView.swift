// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostTerminal

/// The text output of `bghost health`.
///
/// The first line says all: monitoring programs show only that one.
package struct HealthView {
    package let report: HealthReport
    /// Unix nanoseconds.
    package let now: Int64

    package init(report: HealthReport, now: Int64) {
        self.report = report
        self.now = now
    }

    package func text(_ style: Style) -> String {
        head(style) + report.checks.map { line($0, style) }.joined()
    }

    private func head(_ style: Style) -> String {
        let problems = report.checks.filter { $0.state != .ok }
        let word = report.state.rawValue.uppercased()
        let what =
            problems.isEmpty
            ? CountText.of(report.checks.count, "check") + " passed"
            : problems.map { TerminalText.escaped($0.message) }.joined(separator: "; ")
        return style.painted("bghost \(word)", style.tone(Self.mark(report.state))) + ": \(what)\n"
    }

    private func line(_ check: HealthReport.Check, _ style: Style) -> String {
        let since = check.since.map { " (\(HumanText.time($0, now: now)))" } ?? ""
        var text =
            "\(style.painted(Self.mark(check.state))) \(TerminalText.escaped(check.name)):"
            + " \(TerminalText.escaped(check.message))\(since)\n"
        if !check.remedy.isEmpty {
            text +=
                "  " + style.painted("fix", .strong)
                + ": \(TerminalText.escaped(check.remedy))\n"
        }
        return text
    }

    private static func mark(_ state: HealthReport.State) -> Style.Mark {
        switch state {
        case .ok: .good
        case .warning: .warning
        case .critical: .bad
        }
    }
}
