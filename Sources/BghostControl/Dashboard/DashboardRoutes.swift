// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel
internal import Hummingbird

/// The routes for tickets, at the control socket, and for sessions, at the dashboard.
struct DashboardRoutes: Sendable {
    /// `nil` if the manifest has none.
    let dashboard: Dashboard?

    func add(to endpoints: EndpointRouter, for entrance: ControlRoutes.Entrance) {
        switch entrance {
        case .socket:
            // A session cannot make a ticket, so it does not outlast its end.
            endpoints.on(.ticket) { _, context in try ticket(for: context.caller) }
        case .dashboard:
            endpoints.on(.beginSession) { request, _ in try await begin(request) }
            endpoints.on(.endSession) { _, context in end(context.token) }
        }
    }

    private func ticket(for caller: Caller?) throws(ControlFault) -> Response {
        guard let dashboard else { throw Dashboard.absent }
        guard let caller else {
            throw ControlFault(.unavailable, "the client cannot be identified")
        }
        return Answer.json(Schema.ticket, status: .created, try dashboard.ticket(for: caller))
    }

    private func begin(_ request: Request) async throws -> Response {
        guard let dashboard else { throw Dashboard.absent }
        let body = try await request.wholeBody(bytesMax: Self.bodyBytesMax)
        let ticket = try API.TicketBody.read(Array(body.readableBytesView)).ticket
        let (session, caller) = try dashboard.begin(ticket: ticket)
        AuditScope.current?.acts(await UserNames.actor(caller, or: .dashboard))
        return Answer.json(Schema.session, status: .created, session)
    }

    private func end(_ token: String?) -> Response {
        if let token { dashboard?.sessions.end(token: token) }
        return Answer.json(Schema.endedSession, API.EndedSession())
    }

    private static let bodyBytesMax = 1 << 10
}
