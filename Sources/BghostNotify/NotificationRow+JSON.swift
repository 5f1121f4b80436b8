// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension NotificationRow {
    /// The parameters of the run that delivers it.
    ///
    /// - Parameter actionPort: the port that serves the links to its actions; `nil` omits the links.
    package func parameters(actionPort: Int?) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", publicID)
            writer.member("key", idempotencyKey)
            writer.member("plugin", plugin)
            writer.member("level", content.level.name)
            for (name, text) in texts { writer.member(name, text) }
            writer.member("userInfo", raw: content.userInfo)
            writer.member("actions", raw: content.actionsJSON)
            writer.member("replaces", replaces)
            writer.member("postedAt", postedAt / 1_000_000)
            if let actionPort {
                writer.member("actionURLs") { writer in
                    writer.object { writer in
                        for action in content.actions {
                            let id = PercentText.encoded(action.id, keepsDots: false)
                            writer.member(
                                action.id,
                                "http://127.0.0.1:\(actionPort)/act/\(token)/\(id)"
                            )
                        }
                    }
                }
            }
        }
        return writer.text
    }

    /// Writes it in the format of `pending` in the ABI.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", content.id)
            writer.member("level", content.level.rawValue)
            for (name, text) in texts { writer.member(name, text) }
            writer.member("user_info", raw: content.userInfo)
            writer.member("actions", raw: content.actionsJSON)
            writer.member("at_unix_ms", due / 1_000_000)
            writer.member("every_ms", content.every / 1_000_000)
            writer.member("calendar", content.calendar)
            writer.member("time_zone", content.timeZone)
        }
    }

    private var texts: [(String, String)] {
        [
            ("title", content.title), ("subtitle", content.subtitle), ("body", content.body),
            ("thread", content.thread), ("category", content.category),
        ]
    }

    /// The parameters of the run that reports an answer.
    package func actionParameters(_ action: String, text: String?) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", content.id)
            writer.member("action", action)
            writer.member("text", text)
            writer.member("level", content.level.name)
            for (name, text) in texts { writer.member(name, text) }
            writer.member("userInfo", raw: content.userInfo)
        }
        return writer.text
    }
}
