// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// A notification as it is stored: one row for each id of a plugin.
package struct NotificationRow: Equatable, Sendable {
    package enum State: Int64, Equatable, Sendable {
        /// It waits for its delivery, or for the next one.
        case waiting = 0
        /// It was delivered, and is kept for answers.
        case delivered = 1
    }

    /// Identifies this notification; a later notification with the same id has another key.
    package var key: RunID
    package var plugin: String
    package var content: NotificationContent
    /// The secret token of the links to its actions.
    package var token: String
    package var state: State
    /// Unix nanoseconds.
    package var postedAt: Int64
    /// The time of the delivery, Unix nanoseconds.
    package var due: Int64
    /// The number of past occurrences of a repeating notification.
    package var occurrence: Int
    /// The number of failed deliveries in a row.
    package var failures: Int
    /// The time of the next attempt, Unix nanoseconds.
    package var notBefore: Int64
    /// Whether an earlier notification with this id may have been delivered.
    package var replaces: Bool
    /// The time of the last delivery, Unix nanoseconds.
    package var deliveredAt: Int64?
    /// Why the last delivery failed.
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

    /// The same for all attempts of one delivery, and different for all others.
    package var idempotencyKey: String {
        content.repeats ? "\(key)-\(occurrence)" : "\(key)"
    }

    /// Whether it is a summary of several notifications; its empty id is not available to plugins.
    package var isDigest: Bool { content.id.isEmpty }

    /// The id in output and for the delivering handler.
    package var publicID: String { isDigest ? "digest-\(key)" : content.id }
}

/// A change of the stored notifications.
package enum NotificationChange: Equatable, Sendable {
    /// The row replaces that of its plugin and id.
    case kept(NotificationRow)
    /// The row was deleted.
    case removed(plugin: String, id: String)
}
