// SPDX-License-Identifier: Apache-2.0

internal import CBghost

/// Why a notification was not accepted.
public struct UNError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Apple's codes with their numbers.
    public enum Code: Int, Sendable {
        /// `tasks.json` does not permit the plugin to notify, or the host delivers no
        /// notifications.
        case notificationsNotAllowed = 1
        /// The trigger has no date.
        case notificationInvalidNoDate = 1400
        /// The content is invalid.
        case contentProvidingInvalid = 1501
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong and what to do, in one line.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    init(_ status: bg_status) {
        let (code, text): (Code, String) =
            switch status {
            case BG_E_PERM:
                (
                    .notificationsNotAllowed,
                    "not permitted: let the plugin notify under its `permissions` in tasks.json"
                )
            case BG_E_ARG:
                (.contentProvidingInvalid, "the host does not understand this notification")
            case BG_E_LIMIT:
                (.contentProvidingInvalid, "too long or too many: the texts may have 4 KiB")
            case BG_E_ABSENT: (.notificationsNotAllowed, "this host has no notifications")
            case BG_E_CLOSED: (.notificationsNotAllowed, "the plugin is closed")
            default: (.notificationsNotAllowed, "the host failed with status \(status)")
            }
        self.init(code, text)
    }
}
