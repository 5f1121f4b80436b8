// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// The fleet, as one of its hosts sees it.
package struct FleetStatus: Equatable, Sendable {
    /// The name of the asked host; "" if it is in no fleet.
    package var name: String
    /// How long the asked host may begin runs without another answer of the fleet, nanoseconds; 0 without a
    /// valid lease.
    package var validFor: Int64
    /// Since when it has no valid lease, Unix nanoseconds.
    package var lostAt: Int64?
    /// Why the fleet does not answer; "" if it does.
    package var problem: String
    /// Why no request of the fleet starts on the asked host; "" if they start, or if it has no such tasks.
    package var partitionsProblem: String
    /// Since when, Unix nanoseconds.
    package var partitionsLostAt: Int64?
    /// How many partitions have had no owner for longer than a lease.
    package var ownerless: Int
    /// In the order of their names.
    package var hosts: [FleetHost]
    /// What is wrong or worth knowing, as the daemon found it.
    package var findings: [FleetFinding]

    package init(
        name: String = "",
        validFor: Int64 = 0,
        lostAt: Int64? = nil,
        problem: String = "",
        partitionsProblem: String = "",
        partitionsLostAt: Int64? = nil,
        ownerless: Int = 0,
        hosts: [FleetHost] = [],
        findings: [FleetFinding] = []
    ) {
        self.name = name
        self.validFor = validFor
        self.lostAt = lostAt
        self.problem = problem
        self.partitionsProblem = partitionsProblem
        self.partitionsLostAt = partitionsLostAt
        self.ownerless = ownerless
        self.hosts = hosts
        self.findings = findings
    }

    /// Whether the asked host is in a fleet and cannot serve its starts, or run its requests.
    package var needsAttention: Bool {
        !name.isEmpty && (validFor == 0 || !partitionsProblem.isEmpty)
    }
}

/// The answer to a drain of a host of the fleet.
package struct FleetDrain: Equatable, Sendable {
    /// The host after it.
    package var host: FleetHost
    /// Whether it was not drained before, or was.
    package var isChanged: Bool

    package init(host: FleetHost, isChanged: Bool) {
        self.host = host
        self.isChanged = isChanged
    }
}
