// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import Synchronization
package import Logging
internal import ServiceLifecycle

/// The control API of a daemon on a Unix socket that only the daemon's user, and root, can use.
package struct ControlServer: Service {
    private let host: any HostControl
    private let socketPath: String
    private let limits: ControlLimits
    private let logger: Logger
    private let allowsPeer: @Sendable (PeerCredentials) -> Bool
    private let onReady: @Sendable () async -> Void

    /// - Parameters:
    ///   - socketPath: absolute; its folder must exist and be writable by nobody else.
    ///   - logger: for what concerns the server itself; `nil` drops it.
    ///   - allowsPeer: who may connect; called on an event loop, so it must not block.
    ///   - onReady: called once, as soon as clients can connect.
    package init(
        host: any HostControl,
        socketPath: String,
        limits: ControlLimits = ControlLimits(),
        logger: Logger? = nil,
        allowsPeer: @escaping @Sendable (PeerCredentials) -> Bool = {
            $0.uid == 0 || $0.uid == geteuid()
        },
        onReady: @escaping @Sendable () async -> Void = {}
    ) {
        self.host = host
        self.socketPath = socketPath
        self.limits = limits
        var logger = logger ?? Logger(label: "bghost.control") { _ in SwiftLogNoOpLogHandler() }
        // Below are the server's own words, such as the name that it binds for a moment.
        logger.logLevel = max(logger.logLevel, .warning)
        self.logger = logger
        self.allowsPeer = allowsPeer
        self.onReady = onReady
    }

    /// Serves until it is shut down or cancelled, and removes the socket then.
    ///
    /// - Throws: a `ControlFault` if the socket cannot be had, which says who has it.
    package func run() async throws {
        let claim = try SocketClaim(path: socketPath)
        let failure = Mutex<ControlFault?>(nil)
        defer { claim.withdraw() }
        try await application(claim) { channel in
            do throws(ControlFault) {
                try claim.publish()
                await onReady()
            } catch {
                failure.withLock { $0 = error }
                channel.close(promise: nil)
            }
        }.run()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private func application(
        _ claim: SocketClaim,
        onListening: @escaping @Sendable (any Channel) async -> Void
    ) -> some ApplicationProtocol {
        let (limits, allowsPeer) = (limits, allowsPeer)
        let server = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    PeerGate(allows: allowsPeer),
                    RequestDeadline(
                        receiveTime: TimeAmount(limits.receiveTime),
                        idleTime: TimeAmount(limits.idleTime)
                    ),
                ],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: ControlLimits.headBytesMax,
                    maxHeaderListSize: ControlLimits.headBytesMax,
                    maxHeaderFieldCount: ControlLimits.headFieldsMax
                )
            )
        )
        return Application(
            responder: ControlRoutes(host: host).router().buildResponder(),
            server: server,
            configuration: ApplicationConfiguration(
                address: .unixDomainSocket(path: claim.bindingPath),
                backlog: limits.connectionsMax,
                availableConnectionsDelegate: .maximum(limits.connectionsMax, logger: logger)
            ),
            onServerRunning: onListening,
            logger: logger
        )
    }
}
