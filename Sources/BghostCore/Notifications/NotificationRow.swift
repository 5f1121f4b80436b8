// SPDX-License-Identifier: Apache-2.0

/// A notification as the store keeps it: one row for each id of a plugin.
package struct NotificationRow: Equatable, Sendable {
    package enum State: Int64, Equatable, Sendable {
        /// It is still to be delivered, or to be delivered again.
        case waiting = 0
        /// People have been told; it is kept for what they answer.
        case delivered = 1
    }

    /// Names this notification; a later one of the same id has another.
    package var key: RunID
    package var plugin: String
    package var content: NotificationContent
    /// What a link to one of its actions needs to know, so that nobody else has one.
    package var token: String
    package var state: State
    /// Unix nanoseconds.
    package var postedAt: Int64
    /// When it is to be delivered, Unix nanoseconds.
    package var due: Int64
    /// How many times of one that repeats are over.
    package var occurrence: Int
    /// How often its delivery has failed.
    package var failures: Int
    /// When it may be tried again, Unix nanoseconds.
    package var notBefore: Int64
    /// Whether people may have been told of an earlier one of its id.
    package var replaces: Bool
    /// When people were told last, Unix nanoseconds.
    package var deliveredAt: Int64?
    /// Why its delivery failed the last time.
    package var fault: String

    package init(
        key: RunID,
        plugin: String,
        content: NotificationContent,
        token: String,
        state: State = .waiting,
        postedAt: Int64,
        due: Int64,
        occurrence: Int = 0,
        failures: Int = 0,
        notBefore: Int64 = 0,
        replaces: Bool = false,
        deliveredAt: Int64? = nil,
        fault: String = ""
    ) {
        self.key = key
        self.plugin = plugin
        self.content = content
        self.token = token
        self.state = state
        self.postedAt = postedAt
        self.due = due
        self.occurrence = occurrence
        self.failures = failures
        self.notBefore = notBefore
        self.replaces = replaces
        self.deliveredAt = deliveredAt
        self.fault = fault
    }

    /// The same for each attempt to deliver it, and for no other notification.
    package var idempotencyKey: String {
        content.repeats ? "\(key)-\(occurrence)" : "\(key)"
    }

    /// A summary of others, which no plugin can post: its id is empty.
    package var isDigest: Bool { content.id.isEmpty }

    /// The id that people and sinks know it by.
    package var publicID: String { isDigest ? "digest-\(key)" : content.id }
}

/// A change to the notifications that the store keeps.
package enum NotificationChange: Equatable, Sendable {
    /// The row of its plugin and id from now on.
    case kept(NotificationRow)
    /// That row is gone.
    case removed(plugin: String, id: String)
}
