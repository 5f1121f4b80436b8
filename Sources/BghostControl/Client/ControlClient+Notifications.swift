// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostRecords
internal import NIOHTTP1

extension ControlClient {
    /// Notifications that wait, are under way, or may be answered, the oldest first.
    package func outbox() async throws -> Answer<[NotificationStatus]> {
        try await call(.GET, ControlPath("notifications")) {
            $0["notifications"]?.array.map { $0.compactMap(NotificationStatus.init(json:)) }
        }
    }

    /// Posts a notification in the daemon's own name.
    package func postTestNotification() async throws -> Answer<NotificationStatus> {
        try await call(
            .POST,
            ControlPath("notifications", "test"),
            read: NotificationStatus.init(json:)
        )
    }

    /// Has a notification's plugin told what somebody did with it.
    ///
    /// - Parameter plugin: needed only where several have a notification of this id.
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
