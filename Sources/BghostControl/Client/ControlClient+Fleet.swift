// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// The fleet of the daemon's host.
    package func fleet() async throws -> Answer<FleetStatus> {
        try await call(.GET, ControlPath("fleet"), Schema.fleet) { $0.status }
    }

    /// Drains a host of the fleet, or ends that.
    package func setDrained(_ isDrained: Bool, host: String) async throws -> Answer<FleetDrain> {
        let path = ControlPath("fleet", "hosts", host, "drain")
        return try await call(isDrained ? .POST : .DELETE, path, Schema.fleetDrain) { $0.drain }
    }
}
