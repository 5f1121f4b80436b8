// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// What fires, and who is told of it.
    package func alerts() async throws -> Answer<AlertReport> {
        try await call(.GET, ControlPath("alerts"), Schema.alerts)
    }

    /// Sends a test to each receiver of alerts; the answer comes when each has answered.
    package func testAlerts() async throws -> Answer<[AlertTest]> {
        let path = ControlPath("alerts", "test")
        // A program has 30 seconds.
        return try await call(.POST, path, within: .minutes(2), Schema.alertTests) { $0.receivers }
    }
}
