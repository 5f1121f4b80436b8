// SPDX-License-Identifier: Apache-2.0

/// What the outbox wants done.
package enum OutboxEffect: Equatable, Sendable {
    /// To be stored, in this order.
    case store(NotificationChange)
    /// A request that delivers the notification of this key is to be submitted.
    case deliver(key: RunID, task: String, parameters: String)
    /// That request is to be withdrawn, if it still waits.
    case withdraw(request: RunID, task: String)
    case note(Note)

    /// Something worth a line in the log.
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

/// How an attempt to deliver came to its end.
package struct DeliveryEnd: Equatable, Sendable {
    package var succeeded: Bool
    /// Why not, for people.
    package var message: String
    /// When it wants to be tried again, nanoseconds from now.
    package var retryAfter: UInt64?

    package init(succeeded: Bool, message: String = "", retryAfter: UInt64? = nil) {
        self.succeeded = succeeded
        self.message = message
        self.retryAfter = retryAfter
    }
}
