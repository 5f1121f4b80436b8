// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

extension API {
    /// The fleet, as the asked host sees it.
    package struct Fleet: Codable, Equatable, Sendable {
        /// The name of the asked host; "" if it is in no fleet.
        package var name: String
        /// How long the asked host may begin runs without another answer of the fleet, milliseconds; 0
        /// without a valid lease.
        @OrDefault package var validFor: Int64
        /// Since when it has no valid lease; null if it has one.
        @FormOrNull<RFC3339> package var lostAt: Int64?
        /// Why the fleet does not answer; "" if it does.
        @OrDefault package var problem: String
        /// Why no request of the fleet starts on the asked host, one sentence; "" if they start, or if it has no
        /// task with `inFleet`.
        @OrDefault package var partitionsProblem: String
        /// Since when; null if they start.
        @FormOrNull<RFC3339> package var partitionsLostAt: Int64?
        /// How many partitions of requests have had no owner for longer than a lease, as the asked host knows.
        @OrDefault package var ownerless: Int
        /// The hosts, in the order of their names.
        @Elements package var hosts: [FleetHost]
        /// What is wrong or worth knowing, the problems first.
        @ElementsOrEmpty package var findings: [FleetFinding]

        package init(_ status: FleetStatus) {
            name = status.name
            _validFor = OrDefault(wrappedValue: status.validFor / 1_000_000)
            _lostAt = FormOrNull(wrappedValue: status.lostAt)
            _problem = OrDefault(wrappedValue: status.problem)
            _partitionsProblem = OrDefault(wrappedValue: status.partitionsProblem)
            _partitionsLostAt = FormOrNull(wrappedValue: status.partitionsLostAt)
            _ownerless = OrDefault(wrappedValue: status.ownerless)
            _hosts = Elements(wrappedValue: status.hosts.map(FleetHost.init))
            _findings = ElementsOrEmpty(wrappedValue: status.findings)
        }

        package var status: FleetStatus {
            FleetStatus(
                name: name,
                validFor: validFor.multipliedClamped(by: 1_000_000),
                lostAt: lostAt,
                problem: problem,
                partitionsProblem: partitionsProblem,
                partitionsLostAt: partitionsLostAt,
                ownerless: ownerless,
                hosts: hosts.map(\.host),
                findings: findings
            )
        }
    }

    /// A host of the fleet.
    package struct FleetHost: Codable, Equatable, Sendable {
        /// Its name.
        package var name: String
        /// `live`; `draining` or `drained` after `bghost fleet drain`; `left` after its daemon stopped in order;
        /// `gone` if its lease ended otherwise.
        @OrDefault package var state: String
        /// The version of its bghost.
        @OrDefault package var version: String
        /// The length of its lease, milliseconds; 0 if it is unknown.
        @OrDefault package var lease: Int64
        /// How long its lease lasts by the clock of the database, milliseconds; negative since it ended.
        @OrDefault package var leaseLeft: Int64
        /// When it last renewed its lease, by the clock of the database.
        @Formatted<RFC3339> package var seenAt: Int64
        /// When an operator drained it, by the clock of the database; null if it is not drained.
        @FormOrNull<RFC3339> package var drainedAt: Int64?
        /// The starts that it serves now.
        @OrDefault package var claims: Int
        /// The partitions of requests that it owns.
        @OrDefault package var partitions: Int
        /// A fingerprint of its tasks with `onceInFleet` and their times; "" if it is unknown.
        @OrDefault package var tasks: String
        /// How much its clock is ahead of that of the database, milliseconds; null if it is unknown.
        @OrNull package var clockOffset: Int?
        /// The most by which `clockOffset` may be wrong, milliseconds; null if it is unknown.
        @OrNull package var clockError: Int?

        package init(_ host: BghostModel.FleetHost) {
            name = host.name
            _state = OrDefault(wrappedValue: host.state.rawValue)
            _version = OrDefault(wrappedValue: host.version)
            _lease = OrDefault(wrappedValue: host.lease / 1_000_000)
            _leaseLeft = OrDefault(wrappedValue: host.leaseLeft / 1_000_000)
            _seenAt = Formatted(wrappedValue: host.seenAt)
            _drainedAt = FormOrNull(wrappedValue: host.drainedAt)
            _claims = OrDefault(wrappedValue: host.claims)
            _partitions = OrDefault(wrappedValue: host.partitions)
            _tasks = OrDefault(wrappedValue: host.tasks)
            _clockOffset = OrNull(wrappedValue: host.clock.map { Int($0.offset / 1_000_000) })
            _clockError = OrNull(wrappedValue: host.clock.map { Int($0.error / 1_000_000) })
        }

        package var host: BghostModel.FleetHost {
            func nanoseconds(_ milliseconds: Int64) -> Int64 {
                milliseconds.multipliedClamped(by: 1_000_000)
            }
            var clock: BghostModel.FleetHost.Clock?
            if let clockOffset, let clockError {
                clock = .init(
                    offset: nanoseconds(Int64(clockOffset)),
                    error: nanoseconds(Int64(clockError))
                )
            }
            return BghostModel.FleetHost(
                name: name,
                // A daemon of an earlier version does not say.
                state: BghostModel.FleetHost.State(rawValue: state)
                    ?? (leaseLeft > 0 ? .live : .gone),
                version: version,
                lease: nanoseconds(lease),
                leaseLeft: nanoseconds(leaseLeft),
                seenAt: seenAt,
                drainedAt: drainedAt,
                claims: claims,
                partitions: partitions,
                tasks: tasks,
                clock: clock
            )
        }
    }

    /// The answer to a drain of a host of the fleet, or to its end.
    package struct FleetDrainAnswer: Codable, Equatable, Sendable {
        /// Whether it changed anything.
        package var changed: Bool
        /// The host after it.
        package var host: FleetHost

        package init(_ drain: FleetDrain) {
            changed = drain.isChanged
            host = FleetHost(drain.host)
        }

        package var drain: FleetDrain { FleetDrain(host: host.host, isChanged: changed) }
    }
}
