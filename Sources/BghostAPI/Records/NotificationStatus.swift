// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostNotify

/// The status of a notification, for operators.
package struct NotificationStatus: Codable, Equatable, Sendable {
    package enum State: String, Codable, Equatable, Sendable, CaseIterable {
        case waiting
        /// A delivery is in progress.
        case delivering
        /// It was delivered, and can be answered.
        case delivered
    }

    /// Its id, unique among those of its plugin.
    package var id: String
    /// The idempotency key of its delivery.
    package var key: String
    /// The plugin that posted it.
    package var plugin: String
    /// Its title.
    @OrDefault package var title: String
    /// Its text.
    @OrDefault package var body: String
    /// Whether it waits, is being delivered, or was delivered.
    package var state: State
    /// When it is to be delivered, Unix nanoseconds; `nil` after the delivery, unless it repeats.
    @FormOrNull<RFC3339> package var due: Int64?
    /// When the next attempt starts, Unix nanoseconds; `nil` if none has failed.
    @FormOrNull<RFC3339> package var retryAt: Int64?
    /// Failed deliveries in a row.
    @OrDefault package var failures: Int
    /// Why its last delivery failed; "" if it did not fail.
    @EmptyAsNull package var fault: String
    /// When it was delivered, Unix nanoseconds; `nil` if it was not.
    @FormOrNull<RFC3339> package var deliveredAt: Int64?
    /// The answers that it offers.
    @FormElements<NotificationActionForm> package var actions: [NotificationContent.Action]

    init(
        id: String,
        key: String,
        plugin: String,
        title: String,
        body: String,
        state: State,
        due: Int64? = nil,
        retryAt: Int64? = nil,
        failures: Int = 0,
        fault: String = "",
        deliveredAt: Int64? = nil,
        actions: [NotificationContent.Action] = []
    ) {
        self.id = id
        self.key = key
        self.plugin = plugin
        self.title = title
        self.body = body
        self.state = state
        self.due = due
        self.retryAt = retryAt
        self.failures = failures
        self.fault = fault
        self.deliveredAt = deliveredAt
        self.actions = actions
    }

    /// Creates the status of a stored row.
    package init(_ row: NotificationRow, isUnderWay: Bool) {
        let isWaiting = row.state == .waiting
        self.init(
            id: row.publicID,
            key: row.idempotencyKey,
            plugin: row.plugin,
            title: row.content.title,
            body: row.content.body,
            state: isUnderWay ? .delivering : isWaiting ? .waiting : .delivered,
            due: isWaiting ? row.due : nil,
            retryAt: isWaiting && row.failures > 0 ? row.notBefore : nil,
            failures: row.failures,
            fault: row.fault,
            deliveredAt: row.deliveredAt,
            actions: row.content.actions
        )
    }
}

/// An answer that a notification offers.
package enum NotificationActionForm: FieldForm {
    package static func json(_ value: NotificationContent.Action) -> API.NotificationAction {
        API.NotificationAction(id: value.id, title: value.title)
    }

    package static func value(_ json: API.NotificationAction) -> NotificationContent.Action? {
        .init(id: json.id, title: json.title ?? json.id)
    }
}

extension API {
    /// An answer that a notification offers.
    package struct NotificationAction: Codable, Equatable, Sendable {
        /// The id by which `act` chooses it.
        var id: String
        /// The text on its button; `id` for a daemon that has none.
        @OrNull var title: String?
    }
}

/// An accepted answer; its run will start.
package struct NotificationAnswer: Codable, Equatable, Sendable {
    /// The id of the notification.
    var notification: String
    /// The plugin that posted it.
    package var plugin: String
    /// The id of the chosen action.
    var action: String
    /// The request of its run.
    @Formatted<ULID> package var request: RunID
    /// The identifier of the task that the run is of.
    var task: String

    package init(
        notification: String,
        plugin: String,
        action: String,
        request: RunID,
        task: String
    ) {
        self.notification = notification
        self.plugin = plugin
        self.action = action
        self.request = request
        self.task = task
    }
}

/// A reference to a notification.
package enum NotificationReference: Equatable, Sendable {
    /// By its id, and its plugin if several plugins have a notification with that id.
    case id(String, plugin: String?)
    /// By the secret token of its links.
    case token(String)
}

/// The interface of the daemon for notifications: for operators, and for the servers of links.
package protocol NotificationControl: Sendable {
    /// All notifications that wait, are being delivered, or can be answered, the oldest first.
    func outbox() async throws(OperatorRefusal) -> [NotificationStatus]

    /// Posts a test notification in the daemon's name.
    ///
    /// - Returns: the notification, when it is stored.
    func postTestNotification() async throws(OperatorRefusal) -> NotificationStatus

    /// The notification of a link; `nil` if it is unknown or was removed.
    func notification(token: String) async -> NotificationStatus?

    /// Submits the run that reports an answer to the notification's plugin.
    ///
    /// - Returns: the answer, when its request is stored.
    func act(
        on notification: NotificationReference,
        action: String,
        text: String?
    ) async throws(OperatorRefusal) -> NotificationAnswer
}
