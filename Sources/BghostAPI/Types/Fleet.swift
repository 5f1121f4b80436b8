// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

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
        /// The hosts, in the order of their names.
        @Elements package var hosts: [FleetHost]

        package init(_ status: FleetStatus) {
            name = status.name
            _validFor = OrDefault(wrappedValue: status.validFor / 1_000_000)
            _lostAt = FormOrNull(wrappedValue: status.lostAt)
            _problem = OrDefault(wrappedValue: status.problem)
            _hosts = Elements(wrappedValue: status.hosts.map(FleetHost.init))
        }

        package var status: FleetStatus {
            FleetStatus(
                name: name,
                validFor: validFor.multipliedClamped(by: 1_000_000),
                lostAt: lostAt,
                problem: problem,
                hosts: hosts.map(\.host)
            )
        }
    }

    /// A host of the fleet.
    package struct FleetHost: Codable, Equatable, Sendable {
        /// Its name.
        package var name: String
        /// The version of its bghost.
        @OrDefault package var version: String
        /// How long its lease lasts by the clock of the database, milliseconds; negative since it ended.
        @OrDefault package var leaseLeft: Int64
        /// When it last renewed its lease, by the clock of the database.
        @Formatted<RFC3339> package var seenAt: Int64
        /// The starts that it serves now.
        @OrDefault package var claims: Int

        init(_ host: BghostModel.FleetHost) {
            name = host.name
            _version = OrDefault(wrappedValue: host.version)
            _leaseLeft = OrDefault(wrappedValue: host.leaseLeft / 1_000_000)
            _seenAt = Formatted(wrappedValue: host.seenAt)
            _claims = OrDefault(wrappedValue: host.claims)
        }

        var host: BghostModel.FleetHost {
            BghostModel.FleetHost(
                name: name,
                version: version,
                leaseLeft: leaseLeft.multipliedClamped(by: 1_000_000),
                seenAt: seenAt,
                claims: claims
            )
        }
    }
}
