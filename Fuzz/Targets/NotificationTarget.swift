// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostNotify

extension FuzzTarget {
    /// A notification as a plugin posts it: lines of texts, then its actions as JSON.
    static let notifications = FuzzTarget("notifications", bytesMax: 16 << 10) {
        bytes throws(BrokenProperty) in
        var cursor = ByteCursor(bytes)
        let (at, every) = (cursor.integer(Int64.self), cursor.integer(Int64.self))
        let texts = cursor.remaining.split(separator: 0, omittingEmptySubsequences: false)
            .prefix(10).map { String(decoding: $0, as: UTF8.self) }
        func text(_ index: Int) -> String { index < texts.count ? texts[index] : "" }
        let actions: [NotificationContent.Action]
        do throws(NotificationFault) {
            actions = try NotificationContent.actions(json: text(9))
        } catch {
            return try MessageText.check(error.description)
        }
        let content = NotificationContent(
            id: text(0),
            title: text(1),
            subtitle: text(2),
            body: text(3),
            thread: text(4),
            category: text(5),
            userInfo: text(6),
            actions: actions,
            at: at,
            every: every,
            calendar: text(7),
            timeZone: text(8)
        )
        do throws(NotificationFault) {
            try content.check()
        } catch {
            return try MessageText.check(error.description)
        }
        try check(content)
    }

    /// What is relied upon once it has been taken.
    private static func check(_ content: NotificationContent) throws(BrokenProperty) {
        let again = try? NotificationContent.actions(json: content.actionsJSON)
        try require(again == content.actions, "its actions are written as others")
        let row = NotificationRow(
            key: RunID(high: 1, low: 2),
            plugin: "org.example",
            content: content,
            token: "token",
            postedAt: 0,
            due: max(0, content.at)
        )
        for parameters in [row.parameters(actionPort: 8080), row.parameters(actionPort: nil)] {
            try require(JSONText.isObject(parameters), "it is handed over as \(parameters)")
        }
        for action in content.actions {
            let parameters = row.actionParameters(action.id, text: content.title)
            try require(JSONText.isObject(parameters), "its answer is \(parameters)")
        }
    }
}
