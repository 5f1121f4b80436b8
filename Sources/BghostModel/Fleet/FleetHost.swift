// SPDX-License-Identifier: Apache-2.0

internal import BghostCalendar

/// A host of the fleet, as the fleet's store has it.
package struct FleetHost: Equatable, Sendable {
    /// What a host does in its fleet.
    package enum State: String, Codable, Equatable, Sendable, CaseIterable {
        /// It has a lease and claims starts.
        case live
        /// An operator has drained it, and it still has starts or partitions, or does not know of the drain yet.
        case draining
        /// An operator has drained it, and it has no start and no partition and claims none.
        case drained
        /// Its daemon has stopped in order.
        case left
        /// Its lease has ended, and it did not say why.
        case gone

        /// Whether a host in this state has a lease.
        package var hasLease: Bool {
            switch self {
            case .live, .draining, .drained: true
            case .left, .gone: false
            }
        }
    }

    /// The clock of a host, as it measured it with its last renewal.
    package struct Clock: Equatable, Sendable {
        /// How much it is ahead of the clock of the server, nanoseconds; negative if it is behind.
        package var offset: Int64
        /// The most by which the offset may be wrong: half of the time that the answer took, nanoseconds.
        package var error: Int64

        package init(offset: Int64, error: Int64) {
            self.offset = offset
            self.error = error
        }
    }

    package var name: String
    package var state: State
    /// The version of its bghost.
    package var version: String
    /// The length of its lease, nanoseconds; 0 if it is unknown.
    package var lease: Int64
    /// How long its lease lasts by the clock of the server, nanoseconds; negative since it ended.
    package var leaseLeft: Int64
    /// When it last renewed its lease, Unix nanoseconds, by the clock of the server.
    package var seenAt: Int64
    /// When an operator drained it, Unix nanoseconds, by the clock of the server; `nil` if it is not drained.
    package var drainedAt: Int64?
    /// The starts that it serves now.
    package var claims: Int
    /// The partitions of requests that it owns.
    package var partitions: Int
    /// The fingerprint of its tasks that run once in the fleet; "" if it is unknown.
    package var tasks: String
    /// `nil` before it has measured it.
    package var clock: Clock?

    package init(
        name: String,
        state: State = .live,
        version: String,
        lease: Int64 = 0,
        leaseLeft: Int64,
        seenAt: Int64,
        drainedAt: Int64? = nil,
        claims: Int,
        partitions: Int = 0,
        tasks: String = "",
        clock: Clock? = nil
    ) {
        self.name = name
        self.state = state
        self.version = version
        self.lease = lease
        self.leaseLeft = leaseLeft
        self.seenAt = seenAt
        self.drainedAt = drainedAt
        self.claims = claims
        self.partitions = partitions
        self.tasks = tasks
        self.clock = clock
    }
}

extension Manifest {
    /// A fingerprint of the tasks that run once in the fleet, and of those whose requests live there.
    ///
    /// It is the same on two hosts if they have the same such tasks with the same times, so that each can take
    /// over a start or a request of the other. It does not depend on their order. O(tasks).
    package var fleetTasks: String {
        let once = tasks.filter(\.isOnceInFleet)
            .map { "\($0.identifier) \($0.schedule?.text ?? "")" }
        let lines = (once + tasks.filter(\.isInFleet).map { "\($0.identifier) inFleet" }).sorted()
        let digits = String(sipHash13(Array(lines.joined(separator: "\n").utf8)), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
