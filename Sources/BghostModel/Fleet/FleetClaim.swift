// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// A start of a schedule that one host of the fleet serves.
package struct FleetClaim: Hashable, Codable, Sendable {
    /// The identifier of the task.
    package var task: String
    /// The time of the schedule, before the offset of the host, Unix nanoseconds.
    package var slot: Int64
    /// The request of this host for the start.
    package var request: RunID

    package init(task: String, slot: Int64, request: RunID) {
        self.task = task
        self.slot = slot
        self.request = request
    }
}

/// The fleet's answer to a claim.
package enum FleetAnswer: Equatable, Codable, Sendable {
    /// This host serves the start.
    case claimed
    /// Another host serves the start now.
    case taken(by: String)
    /// Another host has served the start.
    case served(by: String)
    /// An operator has drained this host, and no other host has the start.
    case drained
    /// No answer came; the claim may be stored all the same.
    case unknown
}

/// What a host does with a claim that it no longer needs.
package enum FleetRelease: Equatable, Codable, Sendable {
    /// The start is served: no other host may serve it.
    case served
    /// The request ended without a run: another host may serve the start.
    case free
}
