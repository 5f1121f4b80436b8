// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// What is to be told, as the host hands it over.
struct Notification: Decodable {
    struct Action: Decodable {
        var id: String
        var title: String
    }

    /// What this plugin understands of a notification's user info.
    struct UserInfo: Decodable {
        var tags: [String]?
    }

    /// Names it for people and sinks; a later one of this id takes its place.
    var id: String?
    /// The same for each attempt, and for no other notification.
    var key: String?
    var plugin: String?
    /// passive, active, timeSensitive or critical.
    var level: String?
    var title: String?
    var subtitle: String?
    var body: String?
    var actions: [Action]?
    /// Where each action can be taken, by its id.
    var actionURLs: [String: String]?
    var userInfo: UserInfo?

    // What a task may say in place of the above.
    var message: String?
    var priority: Int?
    var tags: [String]?
    var server: String?
    var topic: String?

    enum CodingKeys: String, CodingKey {
        case id, key, plugin, level, title, subtitle, body, actions, actionURLs, userInfo
        case message, priority, tags, server, topic
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? {
            let text = try values.decodeIfPresent(String.self, forKey: key)
            return text == "" ? nil : text
        }
        id = try text(.id)
        key = try text(.key)
        plugin = try text(.plugin)
        level = try text(.level)
        title = try text(.title)
        subtitle = try text(.subtitle)
        body = try text(.body)
        message = try text(.message)
        server = try text(.server)
        topic = try text(.topic)
        priority = try values.decodeIfPresent(Int.self, forKey: .priority)
        tags = try values.decodeIfPresent([String].self, forKey: .tags)
        actions = try values.decodeIfPresent([Action].self, forKey: .actions)
        actionURLs = try values.decodeIfPresent([String: String].self, forKey: .actionURLs)
        // It is the poster's own: what is not for us is no fault of it.
        userInfo = try? values.decodeIfPresent(UserInfo.self, forKey: .userInfo)
        guard title != nil || self.text != nil else {
            throw DeliveryError(description: "the notification says nothing")
        }
    }

    /// What it says below its title.
    var text: String? {
        let lines = [subtitle, body ?? message].compactMap { $0 }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    /// One line for logs.
    var headline: String { title ?? text ?? "" }
}
