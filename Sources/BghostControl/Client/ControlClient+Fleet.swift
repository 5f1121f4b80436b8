// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// The fleet of the daemon's host.
    package func fleet() async throws -> Answer<FleetStatus> {
        try await call(.GET, ControlPath("fleet"), Schema.fleet) { $0.status }
    }

    /// A page of the requests of all hosts.
    ///
    /// - Parameters:
    ///   - isDead: dead letters, instead of what waits or runs.
    ///   - task: a task, or the beginning of tasks and `*`.
    ///   - cursor: `next` of the page before.
    package func fleetRequests(
        isDead: Bool,
        task: String? = nil,
        cursor: String? = nil,
        limit: Int? = nil
    ) async throws -> Answer<API.FleetRequests> {
        let path = ControlPath("fleet", "requests").with("state", isDead ? "dead" : nil)
            .with("task", task).with("cursor", cursor).with("limit", limit)
        return try await call(.GET, path, Schema.fleetRequests)
    }

    /// Cancels a request, wherever it is.
    package func cancelInFleet(_ request: String) async throws -> Answer<API.FleetCancellation> {
        try await call(.DELETE, ControlPath("fleet", "requests", request), Schema.fleetCancel)
    }

    /// Drains a host of the fleet, or ends that.
    package func setDrained(_ isDrained: Bool, host: String) async throws -> Answer<FleetDrain> {
        let path = ControlPath("fleet", "hosts", host, "drain")
        return try await call(isDrained ? .POST : .DELETE, path, Schema.fleetDrain) { $0.drain }
    }
}
