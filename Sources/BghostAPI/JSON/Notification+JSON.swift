// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostNotify

extension JSONWriter {
    package mutating func members(_ notification: NotificationStatus) {
        member("id", notification.id)
        member("key", notification.key)
        member("plugin", notification.plugin)
        member("title", notification.title)
        member("body", notification.body)
        member("state", notification.state.rawValue)
        member("due", time: notification.due)
        member("retryAt", time: notification.retryAt)
        member("failures", notification.failures)
        member("fault", notification.fault.isEmpty ? nil : notification.fault)
        member("deliveredAt", time: notification.deliveredAt)
        member("actions") { writer in
            writer.array { writer in
                for action in notification.actions {
                    writer.object { writer in
                        writer.member("id", action.id)
                        writer.member("title", action.title)
                    }
                }
            }
        }
    }

    package mutating func members(_ answer: NotificationAnswer) {
        member("notification", answer.notification)
        member("plugin", answer.plugin)
        member("action", answer.action)
        member("request", answer.request.description)
        member("task", answer.task)
    }
}

extension NotificationStatus {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let id = json["id"]?.string, let key = json["key"]?.string,
            let plugin = json["plugin"]?.string,
            let state = json["state"]?.string.flatMap(State.init(rawValue:))
        else { return nil }
        self.init(
            id: id,
            key: key,
            plugin: plugin,
            title: json["title"]?.string ?? "",
            body: json["body"]?.string ?? "",
            state: state,
            due: json.time("due"),
            retryAt: json.time("retryAt"),
            failures: json["failures"]?.int64.map { Int(clamping: $0) } ?? 0,
            fault: json["fault"]?.string ?? "",
            deliveredAt: json.time("deliveredAt"),
            actions: (json["actions"]?.array ?? []).compactMap { action in
                guard let id = action["id"]?.string else { return nil }
                return .init(id: id, title: action["title"]?.string ?? id)
            }
        )
    }
}

extension NotificationAnswer {
    /// Reads what the writer writes; `nil` if something is absent.
    package init?(json: JSONNode) {
        guard let notification = json["notification"]?.string, let plugin = json["plugin"]?.string,
            let action = json["action"]?.string, let task = json["task"]?.string,
            let request = json["request"]?.string.flatMap({ RunID($0) })
        else { return nil }
        self.init(
            notification: notification,
            plugin: plugin,
            action: action,
            request: request,
            task: task
        )
    }
}
