// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// An action for the owner of the outbox.
package enum OutboxEffect: Equatable, Sendable {
    /// Store the change; changes are stored in this order.
    case store(NotificationChange)
    /// Submit a request that delivers the notification with this key.
    case deliver(key: RunID, task: String, parameters: String)
    /// Withdraw this request, if it still waits.
    case withdraw(request: RunID, task: String)
    case note(Note)

    /// An entry for the log.
    package struct Note: Equatable, Sendable {
        package enum Event: String, Equatable, Sendable {
            case delivered = "notification.delivered"
            case failed = "notification.failed"
            case expired = "notification.expired"
            case digest = "notification.digest"
        }

        package var event: Event
        package var plugin: String
        package var message: String
    }
}

/// The result of an attempt to deliver.
package struct DeliveryEnd: Equatable, Sendable {
    var succeeded: Bool
    /// Why it failed, for people.
    var message: String
    /// The delay that the handler requests before the next attempt, nanoseconds from now.
    var retryAfter: UInt64?

    package init(succeeded: Bool, message: String = "", retryAfter: UInt64? = nil) {
        self.succeeded = succeeded
        self.message = message
        self.retryAfter = retryAfter
    }
}
