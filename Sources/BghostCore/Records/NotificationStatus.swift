// SPDX-License-Identifier: Apache-2.0

/// A notification as its operator sees it.
package struct NotificationStatus: Equatable, Sendable {
    package enum State: String, Equatable, Sendable, CaseIterable {
        case waiting
        /// A delivery is under way.
        case delivering
        /// People have been told, and may answer.
        case delivered
    }

    package var id: String
    package var key: String
    package var plugin: String
    package var title: String
    package var body: String
    package var state: State
    /// When it is to be delivered, Unix nanoseconds; `nil` once it was, unless it comes again.
    package var due: Int64?
    /// When it is tried again, Unix nanoseconds; `nil` if it has not failed.
    package var retryAt: Int64?
    package var failures: Int
    /// Why its delivery failed the last time; "" if it did not.
    package var fault: String
    package var deliveredAt: Int64?
    package var actions: [NotificationContent.Action]

    package init(
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

    /// What is known of a row.
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

/// An answer that was taken: the run of it is on its way.
package struct NotificationAnswer: Equatable, Sendable {
    package var notification: String
    package var plugin: String
    package var action: String
    /// The request of the run.
    package var request: RunID
    package var task: String

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

/// Whom an answer is about.
package enum NotificationReference: Equatable, Sendable {
    /// By its id, and its plugin where several have one of that id.
    case id(String, plugin: String?)
    /// By what only its links know.
    case token(String)
}

/// What the daemon offers to those who look after notifications, and to those who answer them.
package protocol NotificationControl: Sendable {
    /// What waits, what is under way, and what may be answered, the oldest first.
    func outbox() async throws(OperatorRefusal) -> [NotificationStatus]

    /// Posts one in the daemon's own name, to see whether it arrives.
    ///
    /// - Returns: it, once it is stored.
    func postTestNotification() async throws(OperatorRefusal) -> NotificationStatus

    /// The notification of a link; `nil` if there is none, or none any more.
    func notification(token: String) async -> NotificationStatus?

    /// Has a notification's plugin told what somebody did with it.
    ///
    /// - Returns: once the run of it is stored for good.
    func act(
        on notification: NotificationReference,
        action: String,
        text: String?
    ) async throws(OperatorRefusal) -> NotificationAnswer
}
