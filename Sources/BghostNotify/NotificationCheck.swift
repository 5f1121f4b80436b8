// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension NotificationContent {
    /// The longest id, thread, category and id of an action, bytes.
    static let nameBytesMax = 128
    /// The most bytes of title, subtitle and body together.
    static let textBytesMax = 4 << 10
    static let userInfoBytesMax = 4 << 10
    static let actionsMax = 8
    private static let actionTitleBytesMax = 256
    /// The minimum time between two deliveries of a repeating notification, nanoseconds.
    package static let everyMin: Int64 = 60_000_000_000

    /// Throws if the content is invalid.
    ///
    /// The content is untrusted input of a plugin, and later code relies on these checks.
    package func check() throws(NotificationFault) {
        guard !id.isEmpty else { throw NotificationFault(.bad, "its id is empty") }
        for (what, text) in [("id", id), ("thread", thread), ("category", category)] {
            guard text.utf8.count <= Self.nameBytesMax else {
                throw NotificationFault(
                    .limit,
                    "its \(what) has more than \(Self.nameBytesMax) bytes"
                )
            }
            guard Self.isPlain(text) else {
                throw NotificationFault(.bad, "its \(what) has a control character")
            }
        }
        guard title.utf8.count + subtitle.utf8.count + body.utf8.count <= Self.textBytesMax else {
            throw NotificationFault(
                .limit,
                "its texts have more than \(Self.textBytesMax) bytes together"
            )
        }
        guard !title.isEmpty || !subtitle.isEmpty || !body.isEmpty else {
            throw NotificationFault(.bad, "it says nothing: give it a title or a body")
        }
        guard userInfo.utf8.count <= Self.userInfoBytesMax else {
            throw NotificationFault(
                .limit,
                "its user info has more than \(Self.userInfoBytesMax) bytes"
            )
        }
        // The user info is sent inside another object, and the nesting of JSON is limited.
        guard JSONText.isObject(userInfo), JSONText.isObject("{\"userInfo\":\(userInfo)}") else {
            throw NotificationFault(.bad, "its user info is no JSON object, or nested too deep")
        }
        try checkActions()
        try checkTimes()
    }

    private func checkActions() throws(NotificationFault) {
        guard actions.count <= Self.actionsMax else {
            throw NotificationFault(.limit, "it has more than \(Self.actionsMax) actions")
        }
        for (index, action) in actions.enumerated() {
            guard (1...Self.nameBytesMax).contains(action.id.utf8.count),
                Self.isPlain(action.id), Self.isPlain(action.title),
                action.title.utf8.count <= Self.actionTitleBytesMax
            else {
                throw NotificationFault(
                    .bad,
                    "its action \(index) needs an id of 1 to \(Self.nameBytesMax) bytes and a title"
                        + " of at most \(Self.actionTitleBytesMax), without control characters"
                )
            }
            guard !actions[..<index].contains(where: { $0.id.isSameText(as: action.id) }) else {
                throw NotificationFault(.bad, "two of its actions have the same id")
            }
        }
    }

    private func checkTimes() throws(NotificationFault) {
        guard at >= 0, every >= 0 else { throw NotificationFault(.bad, "its date is negative") }
        guard every == 0 || every >= Self.everyMin else {
            throw NotificationFault(.bad, "it would come more often than once in 60 s")
        }
        guard calendar.isEmpty || every == 0 && at == 0 else {
            throw NotificationFault(.bad, "it has both a calendar and a date or an interval")
        }
        guard timeZone.isEmpty || !calendar.isEmpty else {
            throw NotificationFault(.bad, "it has a time zone without a calendar")
        }
    }

    /// Parses the actions of a plugin: an array of `{"id", "title"}`; "" means none.
    package static func actions(json: String) throws(NotificationFault) -> [Action] {
        guard !json.isEmpty else { return [] }
        guard json.utf8.count <= 8 << 10 else {
            throw NotificationFault(.limit, "its actions have more than 8 KiB")
        }
        // The plugin learns what is wrong, not where.
        guard let node = try? JSONReader.parse(Array(json.utf8), dialect: .strict),
            let elements = node.array
        else { throw NotificationFault(.bad, "its actions are no JSON array") }
        return try elements.map { element throws(NotificationFault) in
            guard let id = element["id"]?.string else {
                throw NotificationFault(.bad, "one of its actions has no id")
            }
            return Action(id: id, title: element["title"]?.string ?? id)
        }
    }

    /// The actions as JSON.
    package var actionsJSON: String {
        var writer = JSONWriter()
        writer.array { writer in
            for action in actions {
                writer.object { writer in
                    writer.member("id", action.id)
                    writer.member("title", action.title)
                }
            }
        }
        return writer.text
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}
