// SPDX-License-Identifier: Apache-2.0

/// How much a notification may disturb.
package enum NotificationLevel: UInt32, Codable, Sendable, CaseIterable, Comparable {
    case passive = 0
    case active = 1
    case timeSensitive = 2
    case critical = 3

    package static func < (a: NotificationLevel, b: NotificationLevel) -> Bool {
        a.rawValue < b.rawValue
    }

    /// Its name in JSON.
    package var name: String {
        switch self {
        case .passive: "passive"
        case .active: "active"
        case .timeSensitive: "timeSensitive"
        case .critical: "critical"
        }
    }

    package init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }
}

/// What a plugin wants people to be told, and when.
package struct NotificationContent: Equatable, Sendable {
    /// A later notification of this id takes the place of this one.
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
    /// Not before this time, Unix nanoseconds; 0 is now.
    package var at: Int64
    /// Again each so many nanoseconds; 0 is once.
    package var every: Int64
    /// When to deliver it, again and again, in place of the two above; "" is none.
    package var calendar: String
    /// The IANA zone of the calendar; "" is the host's.
    package var timeZone: String

    /// What people can answer to it.
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

    /// Whether it comes again and again.
    package var repeats: Bool { every > 0 || !calendar.isEmpty }
}

/// Why a notification is not taken, as a sentence.
package struct NotificationFault: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Equatable, Sendable {
        /// It is not what a notification can be.
        case bad
        /// It is too big, or there are too many.
        case limit
        /// The store did not keep it.
        case store
    }

    package var kind: Kind
    package var description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
