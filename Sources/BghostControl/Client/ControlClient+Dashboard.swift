// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOHTTP1

extension ControlClient {
    /// A link that begins a session of the dashboard, with the rights of this client.
    package func dashboardTicket() async throws -> Answer<API.Ticket> {
        try await call(.POST, ControlPath("web", "tickets"), Schema.ticket)
    }
}
