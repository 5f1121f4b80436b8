// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Digests: one notification in place of many that exceed the rate.
extension Outbox {
    private static let linesMax = 20
    private static let lineBytesMax = 120

    /// Creates a digest of waiting notifications, which then count as delivered.
    ///
    /// It is a row of its own and is stored in the same step as the others, so that a repeated delivery has
    /// the same key and the same content.
    mutating func digest(
        _ rows: [NotificationRow],
        of plugin: String,
        key: RunID,
        now: Int64,
        _ effects: inout [OutboxEffect]
    ) -> NotificationRow {
        var lines = rows.prefix(Self.linesMax).map(Self.line)
        if rows.count > Self.linesMax { lines.append("and \(rows.count - Self.linesMax) more") }
        let content = NotificationContent(
            id: "",
            level: rows.map(\.content.level).max() ?? .active,
            title: "\(rows.count) notifications of \(plugin)",
            body: lines.joined(separator: "\n"),
            category: "digest"
        )
        for row in rows {
            entries[row.key]?.row.deliveredAt = now
            scheduleNext(row.key, now: now)
            if let row = entries[row.key]?.row { store(.kept(row), &effects) }
        }
        effects.append(
            .note(
                .init(
                    event: .digest,
                    plugin: plugin,
                    message: "\(rows.count) notifications of `\(plugin)` came faster than"
                        + " `notifications.rate` allows and are told as one"
                )
            )
        )
        return NotificationRow(
            key: key,
            plugin: plugin,
            content: content,
            token: "",
            postedAt: now,
            due: now
        )
    }

    private static func line(_ row: NotificationRow) -> String {
        let content = row.content
        let text = [content.title, content.subtitle, content.body].first { !$0.isEmpty } ?? ""
        let head = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? text
        guard head.utf8.count > lineBytesMax else { return head }
        var cut = head.prefix(lineBytesMax)
        while cut.utf8.count > lineBytesMax { cut.removeLast() }
        return cut + "…"
    }
}
