// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import FoundationEssentials

/// ntfy, or a server that speaks its JSON.
struct NtfySink: Sink, Decodable {
    /// The address of the server; JSON goes to its root.
    var server: String
    var topic: String
    /// An access token of the server.
    var token: String?

    private static let actionsMax = 3

    init(server: String, topic: String, token: String? = nil) {
        self.server = server
        self.topic = topic
        self.token = token
    }

    var name: String { "ntfy \(topic)" }

    func send(_ notification: Notification, _ context: TaskContext) async throws -> Receipt {
        var headers: [(String, String)] = []
        if let key = notification.key ?? notification.id {
            headers.append(("Idempotency-Key", key))
        }
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        let response = try await context.post(
            try JSONEncoder().encode(message(notification)),
            to: server,
            headers: headers
        )
        try response.check()
        // The server has the message; only its id is not known.
        let answer = try? JSONDecoder().decode(Answer.self, from: response.body)
        return Receipt(status: response.status, message: answer?.id)
    }

    private func message(_ notification: Notification) -> Message {
        let actions = (notification.actions ?? []).compactMap { action in
            notification.actionURLs?[action.id].map {
                Message.Action(label: action.title, url: $0)
            }
        }
        // It shows a title only above a message.
        let text = notification.text
        return Message(
            topic: topic,
            title: text == nil ? nil : notification.title,
            message: text ?? notification.headline,
            priority: notification.priority ?? Self.priority(notification.level),
            tags: notification.tags ?? notification.userInfo?.tags,
            actions: actions.isEmpty ? nil : Array(actions.prefix(Self.actionsMax))
        )
    }

    /// `nil` is the server's own, which is 3.
    private static func priority(_ level: String?) -> Int? {
        switch level {
        case "passive": 2
        case "timeSensitive": 4
        case "critical": 5
        default: nil
        }
    }

    /// A message in the JSON of ntfy; what is `nil` is left out.
    private struct Message: Encodable {
        struct Action: Encodable {
            var action = "http"
            var label: String
            var url: String
            var method = "POST"
        }

        var topic: String
        var title: String?
        var message: String
        var priority: Int?
        var tags: [String]?
        var actions: [Action]?
    }

    /// What ntfy answers, as far as it matters here.
    private struct Answer: Decodable {
        var id: String
    }
}
