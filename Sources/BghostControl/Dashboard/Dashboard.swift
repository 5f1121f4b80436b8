// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
package import BghostModel
internal import Glibc
internal import Synchronization

/// What the control socket and the server of the dashboard share: the sessions, the streams that
/// clients follow, the counts of requests, and whether it is served.
///
/// Any thread may use it.
package final class Dashboard: Sendable {
    private enum State {
        case starting
        case serving(port: Int)
        /// A sentence without a full stop.
        case failed(String)
    }

    let settings: DashboardSettings
    let sessions: DashboardSessions
    let followers = FollowerSlots()
    let meter = RequestMeter()
    let status = SharedAnswer()
    private let state = Mutex(State.starting)

    package convenience init(_ settings: DashboardSettings) {
        self.init(settings, sessions: DashboardSessions(sessionTime: settings.session))
    }

    init(_ settings: DashboardSettings, sessions: DashboardSessions) {
        self.settings = settings
        self.sessions = sessions
    }

    func serves(at port: Int) { state.withLock { $0 = .serving(port: port) } }

    func failed(_ reason: String) { state.withLock { $0 = .failed(reason) } }

    /// The port at which it is served; `nil` if it is not.
    var port: Int? {
        guard case .serving(let port) = state.withLock({ $0 }) else { return nil }
        return port
    }

    /// A link that begins a session with the rights of a client.
    func ticket(for caller: Caller) throws(ControlFault) -> API.Ticket {
        switch state.withLock({ $0 }) {
        case .serving(let port):
            let grant = sessions.makeTicket(
                for: Caller(peer: caller.peer, role: caller.role, isDashboard: true)
            )
            return API.Ticket(
                url: "http://\(settings.listen.authority(port: port))/#\(grant.key)",
                role: caller.role,
                expiresAt: grant.expiresAt
            )
        case .starting: throw ControlFault(.unavailable, "the dashboard is not served yet")
        case .failed(let reason):
            throw ControlFault(
                .noDashboard,
                reason,
                fix: "choose another port in `host.dashboard`, and restart the daemon"
            )
        }
    }

    static let absent = ControlFault(
        .noDashboard,
        "the manifest has no `host.dashboard`",
        fix:
            "add `\"dashboard\": { \"listen\": \"127.0.0.1:8645\" }` to `host`, and restart the daemon"
    )

    /// The names under which a browser may ask for it.
    func knows(authority: String) -> Bool {
        guard let port else { return false }
        let authority = authority.lowercased()
        let own = ["127.0.0.1", "localhost", "[::1]"].map { "\($0):\(port)" }
        return own.contains(authority) || settings.hosts.contains(authority)
    }

    /// Uses up a ticket.
    ///
    /// - Returns: the session, and who began it.
    func begin(ticket: String) throws(ControlFault) -> (API.DashboardSession, Caller) {
        guard let session = sessions.begin(ticket: ticket) else {
            throw ControlFault(
                .badTicket,
                "the ticket of the link has been used or is older than a minute, or the daemon has"
                    + " been restarted",
                fix: "run `bghost dashboard` again"
            )
        }
        let answer = API.DashboardSession(
            token: session.key,
            role: session.caller.role,
            expiresAt: session.expiresAt,
            host: Self.hostName,
            version: BghostVersion.text
        )
        return (answer, session.caller)
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
