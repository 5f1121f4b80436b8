// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostTerminal

/// The text output of `bghost alerts`.
package struct AlertsView {
    package let report: AlertReport
    /// Unix nanoseconds.
    package let now: Int64

    package init(report: AlertReport, now: Int64) {
        self.report = report
        self.now = now
    }

    package func text(_ style: Style) -> String {
        var text = alerts(style)
        if let end = report.mutedUntil {
            text += "muted: no message is sent until \(HumanText.time(end, now: now))\n"
        }
        text += receivers(style)
        if let heartbeat = report.heartbeat { text += line(heartbeat, style) }
        return text
    }

    private func alerts(_ style: Style) -> String {
        guard !report.alerts.isEmpty else { return "no alert fires\n" }
        return report.alerts.map { alert in
            let subject = alert.subject.isEmpty ? "" : " " + TerminalText.escaped(alert.subject)
            let since = alert.since.map { "since \(HumanText.time($0, now: now))" } ?? ""
            let told =
                alert.toldAt.map { "told \(HumanText.time($0, now: now))" } ?? "not told yet"
            return style.painted(.bad) + " "
                + style.painted(TerminalText.escaped(alert.rule), .strong) + subject
                + " (\(since); \(told))\n  \(TerminalText.escaped(alert.detail))\n"
        }.joined()
    }

    private func receivers(_ style: Style) -> String {
        guard !report.receivers.isEmpty else {
            return "no message is sent: `host.alerts` names no receiver\n"
        }
        return report.receivers.map { receiver in
            var parts: [String] = []
            if let since = receiver.failingSince {
                parts.append("takes no messages since \(HumanText.time(since, now: now))")
            }
            if !receiver.error.isEmpty { parts.append(TerminalText.escaped(receiver.error)) }
            if let date = receiver.deliveredAt {
                parts.append("last message \(HumanText.time(date, now: now))")
            }
            if receiver.waiting > 0 {
                parts.append(CountText.of(receiver.waiting, "message") + " waiting")
            }
            if parts.isEmpty { parts.append("no message yet") }
            let mark: Style.Mark =
                receiver.failingSince != nil ? .bad : receiver.error.isEmpty ? .good : .warning
            return style.painted(mark) + " \(TerminalText.escaped(receiver.name)): "
                + parts.joined(separator: "; ") + "\n"
        }.joined()
    }

    private func line(_ heartbeat: HeartbeatStatus, _ style: Style) -> String {
        let sent = heartbeat.sentAt.map { "last taken \(HumanText.time($0, now: now))" }
        let state = heartbeat.error.isEmpty ? sent : TerminalText.escaped(heartbeat.error)
        let said = heartbeat.reasons.isEmpty ? "" : "; it reports that something is wrong"
        let mark: Style.Mark =
            !heartbeat.error.isEmpty ? .bad : heartbeat.reasons.isEmpty ? .good : .warning
        return style.painted(mark) + " heartbeat \(TerminalText.escaped(heartbeat.name)): "
            + (state ?? "none taken yet") + said + "\n"
    }
}

/// The text output of `bghost alerts test`.
package struct AlertTestView {
    package let tests: [AlertTest]

    package init(tests: [AlertTest]) { self.tests = tests }

    package func text(_ style: Style) -> String {
        tests.map { test in
            style.painted(test.delivered ? .good : .bad)
                + " \(TerminalText.escaped(test.name)): \(TerminalText.escaped(test.answer))\n"
        }.joined()
    }
}
