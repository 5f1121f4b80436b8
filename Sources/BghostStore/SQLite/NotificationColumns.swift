// SPDX-License-Identifier: Apache-2.0

internal import BghostNotify

/// The columns of a notification's row.
enum NotificationColumns {
    static let count = 24
    static let names = """
        plugin, id, key, token, state, posted_at, due, occurrence, failures, not_before, replaces,
        delivered_at, fault, level, title, subtitle, body, thread, category, user_info, actions,
        repeats, calendar, sum
        """

    static func bind(_ row: NotificationRow, to arguments: inout Arguments) {
        let content = row.content
        arguments.add(row.plugin)
        arguments.add(content.id)
        arguments.add(row.key)
        arguments.add(row.token)
        arguments.add(row.state.rawValue)
        arguments.add(row.postedAt)
        arguments.add(row.due)
        arguments.add(row.occurrence)
        arguments.add(row.failures)
        arguments.add(row.notBefore)
        arguments.add(row.replaces ? 1 : 0)
        arguments.add(row.deliveredAt)
        arguments.add(row.fault)
        arguments.add(Int64(content.level.rawValue))
        arguments.add(content.title)
        arguments.add(content.subtitle)
        arguments.add(content.body)
        arguments.add(content.thread)
        arguments.add(content.category)
        arguments.add(content.userInfo)
        arguments.add(content.actionsJSON)
        arguments.add("\(content.at) \(content.every) \(content.timeZone)")
        arguments.add(content.calendar)
        arguments.addSum()
    }

    static func read(_ row: inout Row) throws(SQLiteFailure) -> NotificationRow {
        let plugin = row.text()
        let id = row.text()
        let key = try row.id()
        let token = row.text()
        let state = NotificationRow.State(rawValue: row.int())
        var read = NotificationRow(
            key: key,
            plugin: plugin,
            content: NotificationContent(id: id),
            token: token,
            postedAt: row.int(),
            due: row.int(),
            occurrence: Int(row.int()),
            failures: Int(row.int()),
            notBefore: row.int(),
            replaces: row.int() != 0,
            deliveredAt: row.optionalInt(),
            fault: row.text()
        )
        let level = UInt32(exactly: row.int()).flatMap(NotificationLevel.init)
        read.content.title = row.text()
        read.content.subtitle = row.text()
        read.content.body = row.text()
        read.content.thread = row.text()
        read.content.category = row.text()
        read.content.userInfo = row.text()
        // Damage, which is thrown below once the row's checksum is compared.
        let actions = try? NotificationContent.actions(json: row.text())
        let times = row.text().split(
            separator: " ",
            maxSplits: 2,
            omittingEmptySubsequences: false
        )
        read.content.calendar = row.text()
        try row.checkSum("the notifications")
        guard let state, let level, let actions, times.count == 3, let at = Int64(times[0]),
            let every = Int64(times[1])
        else { throw .damaged("a notification makes no sense") }
        read.state = state
        read.content.level = level
        read.content.actions = actions
        read.content.at = at
        read.content.every = every
        read.content.timeZone = String(times[2])
        return read
    }
}
