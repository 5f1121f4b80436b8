// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

/// The control API of a daemon on a Unix socket, for the daemon's user, root, and the control group.
package struct ControlServer: Service, CustomStringConvertible {
    private let host: any HostControl
    private let notifications: (any NotificationControl)?
    private let dashboard: Dashboard?
    private let socketPath: String
    private let claim: SocketClaim?
    private let limits: ControlLimits
    private let logger: Logger
    private let access: ControlAccess
    private let onVerb: @Sendable (ControlVerb) -> Void
    private let onReady: @Sendable () async -> Void
    /// Called with each fault that an endpoint answers, for tests.
    var onFault: @Sendable (Endpoint, FaultCode) -> Void = { _, _ in }

    /// - Parameters:
    ///   - notifications: the notifications of the daemon; `nil` omits their routes.
    ///   - dashboard: the dashboard for which clients get links; `nil` if there is none.
    ///   - socketPath: an absolute path; its folder must exist, and other users must not have write
    ///     permission.
    ///   - claim: the right to listen there, if the caller has it already.
    ///   - logger: for messages about the server itself; `nil` drops them.
    ///   - access: the permissions of clients.
    ///   - onVerb: called for each request that changes something, after its response is ready.
    ///   - onReady: called once, when clients can connect.
    package init(
        host: any HostControl,
        notifications: (any NotificationControl)? = nil,
        dashboard: Dashboard? = nil,
        socketPath: String,
        claim: SocketClaim? = nil,
        limits: ControlLimits = ControlLimits(),
        logger: Logger? = nil,
        access: ControlAccess = ControlAccess(),
        onVerb: @escaping @Sendable (ControlVerb) -> Void = { _ in },
        onReady: @escaping @Sendable () async -> Void = {}
    ) {
        self.host = host
        self.notifications = notifications
        self.dashboard = dashboard
        self.socketPath = socketPath
        self.claim = claim
        self.limits = limits
        var logger = logger ?? Logger(label: "bghost.control") { _ in SwiftLogNoOpLogHandler() }
        // Lower levels contain messages of the HTTP server, such as the temporary path that it binds.
        logger.logLevel = max(logger.logLevel, .warning)
        self.logger = logger
        self.access = access
        self.onVerb = onVerb
        self.onReady = onReady
    }

    /// The methods and paths of the API, such as `GET /v1/runs/:id`, so that tests can check all of them.
    var routes: [String] {
        let routes = ControlRoutes(host: host, notifications: notifications)
        let all = routes.router().routes + routes.router(for: .dashboard).routes
        let names = all.map { route in
            let parts = route.path.description.split(separator: "/").map { part in
                part.hasPrefix("{") ? ":" + part.dropFirst().dropLast() : String(part)
            }
            return "\(route.method) /" + parts.joined(separator: "/")
        }
        return Array(Set(names))
    }

    /// The name of the service, for the service group.
    package var description: String { "the control server" }

    /// Serves until it is shut down or cancelled, and then removes the socket.
    ///
    /// - Throws: a `ControlFault` if the socket is not available, with the process that uses it.
    func run() async throws {
        let claim = try claim ?? SocketClaim(path: socketPath)
        let failure = Mutex<ControlFault?>(nil)
        defer { claim.withdraw() }
        try await server(claim) { channel in
            do throws(ControlFault) {
                try claim.publish(mode: access.mode, group: access.owner)
                await onReady()
            } catch {
                failure.withLock { $0 = error }
                channel.close(promise: nil)
            }
        }.run()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Creates the server without Hummingbird's `Application`, which uses Foundation's calendar for dates and
    /// thereby loads ICU's data.
    ///
    /// That took a tenth of the daemon's start time.
    private func server(
        _ claim: SocketClaim,
        onListening: @escaping @Sendable (any Channel) async -> Void
    ) throws -> any Service {
        let routes = ControlRoutes(
            host: host,
            notifications: notifications,
            dashboard: dashboard,
            limits: limits,
            onFault: onFault
        )
        let (responder, logger, onVerb) = (routes.router().buildResponder(), logger, onVerb)
        let requests = OpenRequests(most: limits.connectionsMax)
        let configuration = configuration(requests)
        let respond: HTTPChannelHandler.Responder = { request, writer, channel in
            var context = ControlContext(
                source: ApplicationRequestContextSource(channel: channel, logger: logger)
            )
            var response: Response
            do {
                if Verbs.isVerb(request) || LogRoute.needsCaller(request) {
                    context.caller = try await Verbs.caller(on: channel)
                }
                let isMember = requests.isMember(ObjectIdentifier(channel))
                response = try await requests.answer(isMember: isMember) { [context] in
                    try await Verbs.answer(request, by: context.caller, onVerb) {
                        try await responder.respond(to: request, context: context)
                    }
                }
            } catch let error as HTTPParserError {
                // The server responds to this error unless a response has started.
                throw error
            } catch let fault as ControlFault {
                response = Answer.fault(fault)
            } catch {
                response = Response(status: .internalServerError)
            }
            response.headers[.date] = HTTPDate.text(unixSeconds: Int64(time(nil)))
            do {
                try await writer.write(response: response.head, body: response.body)
            } catch is HTTPParserError {
                throw BrokenOffAnswer()
            }
        }
        if let descriptor = claim.inherited {
            return InheritedServer(
                descriptor: descriptor,
                connections: HTTP1Channel(responder: respond, configuration: configuration),
                connectionsMax: limits.connectionsMax,
                logger: logger,
                onListening: onListening
            )
        }
        return try HTTPServerBuilder.http1(configuration: configuration).buildServer(
            configuration: ServerConfiguration(
                address: .unixDomainSocket(path: claim.bindingPath),
                backlog: limits.connectionsMax,
                availableConnectionsDelegate: .maximum(limits.connectionsMax, logger: logger)
            ),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            responder: respond,
            onServerRunning: onListening
        )
    }

    private func configuration(_ requests: OpenRequests) -> HTTP1Channel.Configuration {
        .bounded(limits, first: [PeerGate(access, requests)])
    }
}

/// The error for a request that is found to be malformed after its response has started.
private struct BrokenOffAnswer: Error {}
