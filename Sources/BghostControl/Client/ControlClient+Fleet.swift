// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// The fleet of the daemon's host.
    package func fleet() async throws -> Answer<FleetStatus> {
        try await call(.GET, ControlPath("fleet"), Schema.fleet) { $0.status }
    }
}
