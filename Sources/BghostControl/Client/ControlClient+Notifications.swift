// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import NIOHTTP1

extension ControlClient {
    /// The notifications that wait, are being delivered, or can be answered, the oldest first.
    package func outbox() async throws -> Answer<[NotificationStatus]> {
        try await call(.GET, ControlPath("notifications")) {
            $0["notifications"]?.array.map { $0.compactMap(NotificationStatus.init(json:)) }
        }
    }

    /// Posts a test notification in the daemon's name.
    package func postTestNotification() async throws -> Answer<NotificationStatus> {
        try await call(
            .POST,
            ControlPath("notifications", "test"),
            read: NotificationStatus.init(json:)
        )
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
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", notification)
            writer.member("plugin", plugin)
            writer.member("action", action)
            writer.member("text", text)
        }
        return try await call(
            .POST,
            ControlPath("notifications", "act"),
            body: writer.bytes,
            read: NotificationAnswer.init(json:)
        )
    }
}
