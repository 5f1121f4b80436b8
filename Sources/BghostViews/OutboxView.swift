// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostNotify
package import BghostTerminal

/// The text output of `bghost notify outbox`.
package struct OutboxView {
    package let notifications: [NotificationStatus]
    /// Unix nanoseconds.
    package let now: Int64

    package init(notifications: [NotificationStatus], now: Int64) {
        self.notifications = notifications
        self.now = now
    }

    package func text(_ style: Style) -> String {
        guard !notifications.isEmpty else { return "no notifications\n" }
        var table = TextTable(header: [
            "NOTIFICATION", "PLUGIN", "STATE", "WHEN", "TITLE", "ACTIONS", "WHY",
        ])
        for row in notifications {
            table.add([
                .init(TerminalText.escaped(row.id)),
                .init(TerminalText.escaped(row.plugin)),
                .init(row.state.rawValue),
                .init(when(row)),
                .init(TerminalText.escaped(String(row.title.prefix(40)))),
                .init(TerminalText.escaped(row.actions.map(\.id).joined(separator: " "))),
                .init(why(row), .bad),
            ])
        }
        return table.text(style)
    }

    private func when(_ row: NotificationStatus) -> String {
        let time = row.state == .delivered ? row.deliveredAt : row.retryAt ?? row.due
        return time.map { HumanText.time($0, now: now) } ?? ""
    }

    private func why(_ row: NotificationStatus) -> String {
        guard row.failures > 0 else { return "" }
        return "failed \(row.failures) times: \(TerminalText.escaped(row.fault))"
    }
}
