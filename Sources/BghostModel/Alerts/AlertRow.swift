// SPDX-License-Identifier: Apache-2.0

/// What an alert is about, in a stable word.
package enum AlertRule: String, Codable, CaseIterable, Sendable {
    /// No run of a task succeeded for `expect.every`.
    case noSuccess = "no-success"
    /// `expect.failures` runs of a task failed in a row.
    case failures
    /// A request did not start within `expect.start` of its due date.
    case lateStart = "late-start"
    /// A run takes longer than `expect.runtime`.
    case longRun = "long-run"
    /// A task has dead letters.
    case deadLetters = "dead-letters"
    /// A plugin is quarantined or cannot be used.
    case plugin
    /// The store cannot write.
    case store
    /// The host has no valid lease in its fleet.
    case fleet
    /// No request of the fleet starts on the host.
    case partitions
    /// Partitions of the fleet have had no owner for longer than a lease.
    case ownerless
    /// A receiver of alerts takes none.
    case receiver

    /// Whether it is about a task of the manifest.
    package var isAboutTask: Bool {
        switch self {
        case .noSuccess, .failures, .lateStart, .longRun, .deadLetters: true
        case .plugin, .store, .fleet, .partitions, .ownerless, .receiver: false
        }
    }

    /// Whether it is about the host in its fleet.
    package var isAboutFleet: Bool {
        switch self {
        case .fleet, .partitions, .ownerless: true
        case .noSuccess, .failures, .lateStart, .longRun, .deadLetters, .plugin, .store, .receiver:
            false
        }
    }
}

/// What identifies an alert.
package struct AlertKey: Hashable, Sendable {
    package let rule: AlertRule
    /// The task as it stands in the manifest, the plugin or the receiver; "" for the store and the fleet.
    package let subject: String

    package init(_ rule: AlertRule, _ subject: String = "") {
        self.rule = rule
        self.subject = subject
    }
}

/// The stored state of an alert; one that has ended and was told has no row.
package struct AlertRow: Equatable, Sendable {
    package var key: AlertKey
    /// Since when it fires, Unix nanoseconds.
    package var since: Int64
    /// What was found, a clause without a full stop.
    package var detail: String
    /// When a receiver last took a message that it fires, Unix nanoseconds; `nil` if none did.
    package var toldAt: Int64?
    /// When it ended, Unix nanoseconds; `nil` while it fires.
    package var endedAt: Int64?

    package init(
        key: AlertKey,
        since: Int64,
        detail: String,
        toldAt: Int64? = nil,
        endedAt: Int64? = nil
    ) {
        self.key = key
        self.since = since
        self.detail = detail
        self.toldAt = toldAt
        self.endedAt = endedAt
    }
}

/// How a task of the manifest did lately, for what is expected of it.
package struct TaskProgress: Equatable, Sendable {
    /// The task as it stands in the manifest.
    package var task: String
    /// Since when it is watched, Unix nanoseconds.
    package var since: Int64
    /// When a run last succeeded, Unix nanoseconds; `nil` if none has since.
    ///
    /// A stored one may be older than the last success by ``slack(every:)``.
    package var lastSuccess: Int64?
    /// The number of failed runs since the last one that succeeded.
    package var failures: Int

    package init(task: String, since: Int64, lastSuccess: Int64? = nil, failures: Int = 0) {
        self.task = task
        self.since = since
        self.lastSuccess = lastSuccess
        self.failures = failures
    }

    /// How much newer than the stored success the last one may be, nanoseconds.
    ///
    /// Successes are not stored each time, so that a task that runs each second costs no row each second.
    package static func slack(every period: Int64) -> Int64 {
        max(1_000_000_000, period / 100)
    }
}

/// A change of the stored alerts.
package enum AlertChange: Equatable, Sendable {
    case kept(AlertRow)
    case removed(AlertKey)
    case progress(TaskProgress)
    /// The task is no longer watched.
    case unwatched(task: String)
}
