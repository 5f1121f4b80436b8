// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostModel
internal import Glibc
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import ServiceLifecycle

/// Serves the dashboard and the control API for its pages, on the loopback interface.
///
/// A failure does not stop the daemon: if the port is in use, the server reports it, and
/// `bghost dashboard` says so.
package struct DashboardServer: Service, CustomStringConvertible {
    private let host: any HostControl
    private let notifications: (any NotificationControl)?
    private let dashboard: Dashboard
    private let limits: ControlLimits
    private let requests: OpenRequests
    private let onVerb: @Sendable (ControlVerb) -> Void
    private let onReady: @Sendable (_ url: String) -> Void
    private let onFailure: @Sendable (String) -> Void
    private let pages = DashboardPages()

    /// - Parameters:
    ///   - notifications: the notifications of the daemon; `nil` omits their routes.
    ///   - dashboard: the one for which the control server makes tickets.
    ///   - onVerb: called for each request that changes something, after its response is ready.
    ///   - onReady: called once, when browsers can connect.
    ///   - onFailure: called with a sentence if they cannot.
    package init(
        host: any HostControl,
        notifications: (any NotificationControl)? = nil,
        dashboard: Dashboard,
        onVerb: @escaping @Sendable (ControlVerb) -> Void = { _ in },
        onReady: @escaping @Sendable (_ url: String) -> Void = { _ in },
        onFailure: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(
            host: host,
            notifications: notifications,
            dashboard: dashboard,
            limits: ControlLimits(),
            onVerb: onVerb,
            onReady: onReady,
            onFailure: onFailure
        )
    }

    init(
        host: any HostControl,
        notifications: (any NotificationControl)? = nil,
        dashboard: Dashboard,
        limits: ControlLimits,
        onVerb: @escaping @Sendable (ControlVerb) -> Void = { _ in },
        onReady: @escaping @Sendable (_ url: String) -> Void = { _ in },
        onFailure: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.host = host
        self.notifications = notifications
        self.dashboard = dashboard
        self.limits = limits
        requests = OpenRequests(most: limits.connectionsMax)
        self.onVerb = onVerb
        self.onReady = onReady
        self.onFailure = onFailure
    }

    /// The name of the service, for the service group.
    package var description: String { "the server of the dashboard" }

    /// Serves until it is shut down or cancelled.
    package func run() async {
        do {
            try await server().run()
        } catch {
            let reason = "the dashboard is not served at \(dashboard.settings.listen): \(error)"
            dashboard.failed(reason)
            onFailure(reason)
            // The daemon continues without it. An error here means that the service was cancelled.
            try? await gracefulShutdown()
        }
    }

    private func server() throws -> any Service {
        let logger = Logger(label: "bghost.dashboard") { _ in SwiftLogNoOpLogHandler() }
        let routes = ControlRoutes(
            host: host,
            notifications: notifications,
            dashboard: dashboard,
            limits: limits
        )
        let responder = routes.router(for: .dashboard).buildResponder()
        let (host, dashboard, onReady) = (host, dashboard, onReady)
        return try HTTPServerBuilder.http1(configuration: configuration).buildServer(
            configuration: ServerConfiguration(
                address: .hostname(
                    dashboard.settings.listen.host,
                    port: dashboard.settings.listen.port
                ),
                backlog: limits.connectionsMax,
                availableConnectionsDelegate: .maximum(limits.connectionsMax, logger: logger)
            ),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            responder: { request, writer, channel in
                let context = ControlContext(
                    source: ApplicationRequestContextSource(channel: channel, logger: logger)
                )
                var response: Response
                do {
                    response = try await answer(request, context) { request, context in
                        try await responder.respond(to: request, context: context)
                    }
                } catch let error as HTTPParserError {
                    // The server responds to this error unless a response has started.
                    throw error
                } catch let fault as ControlFault {
                    // A daemon that has too much to do says nothing about the client.
                    let isRefused = fault.code != .unavailable
                    if isRefused, Verbs.isVerb(request) || Self.token(request.headers) != nil {
                        await VerbAudit(audit: host).refused(request, nil, .dashboard, fault.code)
                    }
                    response = Answer.fault(fault)
                } catch {
                    response = Response(status: .internalServerError)
                }
                DashboardGuard.protect(&response)
                response.headers[.date] = HTTPDate.text(unixSeconds: Int64(time(nil)))
                try await writer.write(response: response.head, body: response.body)
            },
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? dashboard.settings.listen.port
                dashboard.serves(at: port)
                onReady("http://\(dashboard.settings.listen.authority(port: port))/")
            }
        )
    }

    private var configuration: HTTP1Channel.Configuration {
        let connections = DashboardConnections(most: limits.connectionsMax)
        let sessions = dashboard.sessions
        return .bounded(limits, first: [DashboardConnectionHandler(connections, sessions)])
    }

    private func answer(
        _ request: Request,
        _ context: ControlContext,
        _ respond: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        let path = request.uri.path
        let isPage = DashboardPages.isPage(path)
        try DashboardGuard.check(request, dashboard, isPage: isPage && !Verbs.isVerb(request))
        if isPage {
            guard let page = pages.answer(request) else {
                throw ControlFault(
                    .noSuchRoute,
                    "the dashboard has no \(TerminalText.escaped(String(path.prefix(200))))"
                )
            }
            return page
        }
        var context = context
        // Probes of a supervisor have no session, and learn no name of a task.
        let isOpen = [Endpoint.beginSession, .alive, .ready].contains { endpoint in
            endpoint.path == path && endpoint.method == request.method
        }
        if !isOpen {
            let token = Self.token(request.headers)
            guard let caller = token.flatMap(dashboard.sessions.caller) else {
                throw ControlFault(
                    .noSession,
                    token == nil
                        ? "the request has no `Authorization: Bearer TOKEN`"
                        : "the session has ended, newer sessions took its place, or the daemon has"
                            + " been restarted",
                    fix: "run `bghost dashboard`, and open its link"
                )
            }
            (context.caller, context.token) = (caller, token)
        }
        let isMember = context.caller?.isMember ?? false
        return try await requests.answer(isMember: isMember) { [context] in
            try await Verbs.answer(request, by: context.caller, onVerb) {
                try await respond(request, context)
            }
        }
    }

    /// The token in the head of a request.
    static func token(_ fields: HTTPFields) -> String? {
        guard let value = fields[.authorization] else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}
