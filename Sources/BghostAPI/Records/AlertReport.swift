// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The alerts of the daemon, and whom it tells of them.
package struct AlertReport: Codable, Equatable, Sendable {
    /// What fires, the oldest first.
    @Elements package var alerts: [AlertStatus]
    /// Who gets messages, in the order of the manifest.
    @ElementsOrEmpty package var receivers: [AlertReceiverStatus]
    /// When the window ends in which no message is sent; null if none is open.
    @FormOrNull<RFC3339> package var mutedUntil: Int64?
    /// The reports that the daemon lives; null without `host.heartbeat`.
    @OrNull package var heartbeat: HeartbeatStatus?

    package init(
        alerts: [AlertStatus] = [],
        receivers: [AlertReceiverStatus] = [],
        mutedUntil: Int64? = nil,
        heartbeat: HeartbeatStatus? = nil
    ) {
        self.alerts = alerts
        self.receivers = receivers
        self.mutedUntil = mutedUntil
        self.heartbeat = heartbeat
    }
}

/// An alert that fires.
package struct AlertStatus: Codable, Equatable, Sendable {
    /// What it is about, such as `failures`.
    package var rule: String
    /// The task as it stands in the manifest, the plugin or the receiver; "" for the store.
    @OrDefault package var subject: String
    /// Since when it fires.
    @FormOrNull<RFC3339> package var since: Int64?
    /// What was found, a clause without a full stop.
    @OrDefault package var detail: String
    /// When a receiver last took a message about it; null if none did.
    @FormOrNull<RFC3339> package var toldAt: Int64?

    package init(
        rule: String,
        subject: String,
        since: Int64?,
        detail: String,
        toldAt: Int64? = nil
    ) {
        self.rule = rule
        self.subject = subject
        self.since = since
        self.detail = detail
        self.toldAt = toldAt
    }
}

/// A receiver of alerts.
package struct AlertReceiverStatus: Codable, Equatable, Sendable {
    /// What it is, without secrets: such as `webhook https://chat.example`.
    package var name: String
    /// When it last took a message since the start of the daemon; null if it did not.
    @FormOrNull<RFC3339> package var deliveredAt: Int64?
    /// Since when it takes none; null if it does.
    @FormOrNull<RFC3339> package var failingSince: Int64?
    /// Why the last attempt failed; "" if it did not.
    @OrDefault package var error: String
    /// The number of messages that wait for it.
    @OrDefault package var waiting: Int

    package init(
        name: String,
        deliveredAt: Int64? = nil,
        failingSince: Int64? = nil,
        error: String = "",
        waiting: Int = 0
    ) {
        self.name = name
        self.deliveredAt = deliveredAt
        self.failingSince = failingSince
        self.error = error
        self.waiting = waiting
    }
}

/// The reports that the daemon lives.
package struct HeartbeatStatus: Codable, Equatable, Sendable {
    /// The scheme, host and port of its address.
    package var name: String
    /// When the last one was taken; null if none was since the start of the daemon.
    @FormOrNull<RFC3339> package var sentAt: Int64?
    /// What was wrong according to the last one; "" if nothing.
    @OrDefault package var reasons: String
    /// Why the last one failed; "" if it did not.
    @OrDefault package var error: String

    package init(name: String, sentAt: Int64? = nil, reasons: String = "", error: String = "") {
        self.name = name
        self.sentAt = sentAt
        self.reasons = reasons
        self.error = error
    }
}

/// What a receiver answered to a test.
package struct AlertTest: Codable, Equatable, Sendable {
    /// The receiver, as ``AlertReceiverStatus/name``.
    package var name: String
    /// Whether it took the message.
    @OrDefault package var delivered: Bool
    /// What it answered, or why it did not take the message.
    @OrDefault package var answer: String

    package init(_ name: String, _ delivered: Bool, _ answer: String) {
        self.name = name
        self.delivered = delivered
        self.answer = answer
    }
}

extension API {
    /// What the receivers of alerts answered to a test.
    package struct AlertTests: Codable, Equatable, Sendable {
        /// In the order of the manifest.
        @Elements package var receivers: [AlertTest]

        package init(receivers: [AlertTest]) {
            self.receivers = receivers
        }
    }
}
