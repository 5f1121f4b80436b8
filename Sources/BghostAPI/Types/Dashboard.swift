// SPDX-License-Identifier: Apache-2.0

package import BghostModel

extension API {
    /// A link that begins a session of the dashboard, once and within a minute.
    package struct Ticket: Codable, Equatable, Sendable {
        /// The address of the dashboard with the ticket as its fragment, which browsers keep to themselves.
        package var url: String
        /// What the session may do: that of the client that asked for the ticket.
        package var role: ControlRole
        /// When the ticket ends, as RFC 3339 has it.
        @Formatted<RFC3339> package var expiresAt: Int64

        package init(url: String, role: ControlRole, expiresAt: Int64) {
            self.url = url
            self.role = role
            self.expiresAt = expiresAt
        }
    }

    /// The body of `POST /v1/web/session`.
    package struct TicketBody: RequestBody, Equatable, Sendable {
        /// The fragment of the link.
        package var ticket: String

        package static let keys: Set<String> = ["ticket"]
        package static let nullableKeys: Set<String> = []
        package static let objectKeys: Set<String> = []
        package static let integerKeys: Set<String> = []
        package static let rules: [String: String] = [:]

        package init(ticket: String) { self.ticket = ticket }
    }

    /// A session of the dashboard.
    package struct DashboardSession: Codable, Equatable, Sendable {
        /// What requests send as `Authorization: Bearer TOKEN`.
        package var token: String
        /// What the session may do.
        package var role: ControlRole
        /// When the session ends, as RFC 3339 has it.
        @Formatted<RFC3339> package var expiresAt: Int64
        /// The name of the daemon's machine.
        package var host: String
        /// The version of the daemon.
        package var version: String

        package init(
            token: String,
            role: ControlRole,
            expiresAt: Int64,
            host: String,
            version: String
        ) {
            self.token = token
            self.role = role
            self.expiresAt = expiresAt
            self.host = host
            self.version = version
        }
    }

    /// The end of a session of the dashboard.
    package struct EndedSession: Codable, Equatable, Sendable {
        /// Always true.
        @OrDefault package var ended: Bool

        package init() { ended = true }
    }
}
