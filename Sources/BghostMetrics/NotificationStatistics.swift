// SPDX-License-Identifier: Apache-2.0

/// What the daemon counts of notifications since its start, of all plugins together.
package struct NotificationStatistics: Equatable, Sendable {
    /// What became of a notification.
    package enum Event: String, CaseIterable, Sendable {
        /// The store has it.
        case posted
        /// The delivering task has succeeded with it.
        case delivered
        /// An attempt to deliver it has failed.
        case failed
        /// It was not delivered in time.
        case expired
    }

    private var counts: [Event: UInt64] = [:]

    package init() {}

    package func count(_ event: Event) -> UInt64 { counts[event] ?? 0 }

    package mutating func add(_ event: Event) { counts[event, default: 0] += 1 }
}
