// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// Whether the daemon accepts work and keeps it.
    ///
    /// - Parameter time: how long to wait for the answer.
    package func readiness(
        within time: Duration = .seconds(5)
    ) async throws -> Answer<ReadinessReport> {
        // 503 with the reasons is an answer too.
        try await call(
            .GET,
            ControlPath(root: "readyz"),
            within: TimeAmount(time),
            accepting: 503,
            Schema.readiness
        ) { $0 }
    }

    /// All checks of the daemon's health.
    package func health() async throws -> Answer<HealthReport> {
        try await call(.GET, ControlPath("health"), Schema.health)
    }
}
