// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOHTTP1

extension ControlClient {
    /// The notifications that wait, are being delivered, or can be answered, the oldest first.
    package func outbox() async throws -> Answer<[NotificationStatus]> {
        try await call(.GET, ControlPath("notifications"), Schema.outbox) { $0.notifications }
    }

    /// Posts a test notification in the daemon's name.
    package func postTestNotification() async throws -> Answer<NotificationStatus> {
        try await call(.POST, ControlPath("notifications", "test"), Schema.notification)
    }

    /// Sends an answer to a notification.
    ///
    /// - Parameter plugin: required only if several plugins have a notification with this id.
    package func act(
        on notification: String,
        plugin: String?,
        action: String,
        text: String?
    ) async throws -> Answer<NotificationAnswer> {
        let body = API.ActBody(id: notification, plugin: plugin, action: action, text: text)
        return try await call(
            .POST,
            ControlPath("notifications", "act"),
            body: APICoder.json(body),
            Schema.answer
        )
    }
}
