// SPDX-License-Identifier: Apache-2.0

/// The interruption level of a notification.
package enum NotificationLevel: UInt32, Codable, Sendable, CaseIterable, Comparable {
    case passive = 0
    case active = 1
    case timeSensitive = 2
    case critical = 3

    package static func < (a: NotificationLevel, b: NotificationLevel) -> Bool {
        a.rawValue < b.rawValue
    }

    /// The name in JSON.
    var name: String {
        switch self {
        case .passive: "passive"
        case .active: "active"
        case .timeSensitive: "timeSensitive"
        case .critical: "critical"
        }
    }

    init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }
}

/// The content of a notification, and its delivery dates.
package struct NotificationContent: Equatable, Sendable {
    /// A later notification with this id replaces this one.
    package var id: String
    package var level: NotificationLevel
    package var title: String
    package var subtitle: String
    package var body: String
    package var thread: String
    package var category: String
    /// A JSON object.
    package var userInfo: String
    package var actions: [Action]
    /// The notification is not delivered before this time, Unix nanoseconds; 0 means now.
    package var at: Int64
    /// The interval of a repeating notification, nanoseconds; 0 means once.
    package var every: Int64
    /// The calendar of a repeating notification, which replaces `at` and `every`; "" means none.
    package var calendar: String
    /// The IANA time zone of the calendar; "" means that of the host.
    package var timeZone: String

    /// An action with which people can answer.
    package struct Action: Equatable, Sendable {
        package var id: String
        package var title: String

        package init(id: String, title: String) {
            self.id = id
            self.title = title
        }
    }

    package init(
        id: String,
        level: NotificationLevel = .active,
        title: String = "",
        subtitle: String = "",
        body: String = "",
        thread: String = "",
        category: String = "",
        userInfo: String = "{}",
        actions: [Action] = [],
        at: Int64 = 0,
        every: Int64 = 0,
        calendar: String = "",
        timeZone: String = ""
    ) {
        self.id = id
        self.level = level
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.thread = thread
        self.category = category
        self.userInfo = userInfo
        self.actions = actions
        self.at = at
        self.every = every
        self.calendar = calendar
        self.timeZone = timeZone
    }

    /// Whether it is delivered repeatedly.
    var repeats: Bool { every > 0 || !calendar.isEmpty }
}

/// The error for a refused notification, with a clause as its description.
package struct NotificationFault: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Equatable, Sendable {
        /// The content is invalid.
        case bad
        /// The content is too long, or the plugin has too many notifications.
        case limit
        /// The store could not write it.
        case store
    }

    package var kind: Kind
    package var description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
