// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostRecords
internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

/// The control API of a daemon on a Unix socket that only the daemon's user, and root, can use.
package struct ControlServer: Service, CustomStringConvertible {
    private let host: any HostControl
    private let notifications: (any NotificationControl)?
    private let socketPath: String
    private let claim: SocketClaim?
    private let limits: ControlLimits
    private let logger: Logger
    private let access: ControlAccess
    private let onVerb: @Sendable (ControlVerb) -> Void
    private let onReady: @Sendable () async -> Void

    /// - Parameters:
    ///   - notifications: who looks after them; `nil` serves no paths about them.
    ///   - socketPath: absolute; its folder must exist and be writable by nobody else.
    ///   - claim: the right to listen there, if its owner has taken it already.
    ///   - logger: for what concerns the server itself; `nil` drops it.
    ///   - access: who may connect, and do what.
    ///   - onVerb: told of each request that changes something, once it has been answered.
    ///   - onReady: called once, as soon as clients can connect.
    package init(
        host: any HostControl,
        notifications: (any NotificationControl)? = nil,
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
        self.socketPath = socketPath
        self.claim = claim
        self.limits = limits
        var logger = logger ?? Logger(label: "bghost.control") { _ in SwiftLogNoOpLogHandler() }
        // Below are the server's own words, such as the name that it binds for a moment.
        logger.logLevel = max(logger.logLevel, .warning)
        self.logger = logger
        self.access = access
        self.onVerb = onVerb
        self.onReady = onReady
    }

    /// For the group of services, which asks.
    package var description: String { "the control server" }

    /// Serves until it is shut down or cancelled, and removes the socket then.
    ///
    /// - Throws: a `ControlFault` if the socket cannot be had, which says who has it.
    package func run() async throws {
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

    /// The server without Hummingbird's `Application` around it, which keeps a date through Foundation's
    /// calendar and so loads ICU's data: a tenth of all the time that a daemon took to be ready.
    private func server(
        _ claim: SocketClaim,
        onListening: @escaping @Sendable (any Channel) async -> Void
    ) throws -> any Service {
        let routes = ControlRoutes(host: host, notifications: notifications)
        let (responder, logger, onVerb) = (routes.router().buildResponder(), logger, onVerb)
        return try builder.buildServer(
            configuration: ServerConfiguration(
                address: .unixDomainSocket(path: claim.bindingPath),
                backlog: limits.connectionsMax,
                availableConnectionsDelegate: .maximum(limits.connectionsMax, logger: logger)
            ),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            responder: { request, writer, channel in
                let context = ControlRoutes.Context(
                    source: ApplicationRequestContextSource(channel: channel, logger: logger)
                )
                var response: Response
                do {
                    response = try await Verbs.answer(request, on: channel, onVerb) {
                        try await responder.respond(to: request, context: context)
                    }
                } catch let error as HTTPParserError {
                    // Answered by the server, as long as no answer has begun.
                    throw error
                } catch {
                    response = Response(status: .internalServerError)
                }
                response.headers[.date] = HTTPDate.text(unixSeconds: Int64(time(nil)))
                do {
                    try await writer.write(response: response.head, body: response.body)
                } catch is HTTPParserError {
                    throw BrokenOffAnswer()
                }
            },
            onServerRunning: onListening
        )
    }

    private var builder: HTTPServerBuilder {
        let (limits, access) = (limits, access)
        let guests = GuestCount(most: max(1, limits.connectionsMax / 2))
        return .http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    PeerGate(access, guests),
                    RequestDeadline(
                        receiveTime: TimeAmount(limits.receiveTime),
                        idleTime: TimeAmount(limits.idleTime),
                        stallTime: TimeAmount(limits.stallTime)
                    ),
                ],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: ControlLimits.headBytesMax,
                    maxHeaderListSize: ControlLimits.headBytesMax,
                    maxHeaderFieldCount: ControlLimits.headFieldsMax
                )
            )
        )
    }
}

/// A request that turned out to be malformed while its answer was on the way: it gets no second one.
private struct BrokenOffAnswer: Error {}
