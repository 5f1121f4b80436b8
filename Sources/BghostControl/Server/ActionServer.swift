// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import ServiceLifecycle

/// The server of links to actions of notifications, on 127.0.0.1.
///
/// A failure does not stop the daemon: if the port is in use, the server reports it, and the links do not
/// work.
package struct ActionServer: Service, CustomStringConvertible {
    private let notifications: any NotificationControl
    private let audit: (any AuditControl)?
    private let port: Int
    private let onReady: @Sendable () -> Void
    private let onFailure: @Sendable (String) -> Void

    /// - Parameters:
    ///   - audit: notes who answers; `nil` for none.
    ///   - port: the port on loopback.
    ///   - onReady: called when the links work.
    ///   - onFailure: called with a sentence if they do not work.
    package init(
        notifications: any NotificationControl,
        audit: (any AuditControl)? = nil,
        port: Int,
        onReady: @escaping @Sendable () -> Void = {},
        onFailure: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.notifications = notifications
        self.audit = audit
        self.port = port
        self.onReady = onReady
        self.onFailure = onFailure
    }

    /// The name of the service, for the service group.
    package var description: String { "the server of action links" }

    /// Serves until it is shut down or cancelled.
    func run() async {
        do {
            try await server().run()
        } catch {
            onFailure("links to actions are not served at 127.0.0.1:\(port): \(error)")
            // The daemon continues without the links. An error here means that the service was cancelled.
            try? await gracefulShutdown()
        }
    }

    private func server() throws -> any Service {
        let logger = Logger(label: "bghost.actions") { _ in SwiftLogNoOpLogHandler() }
        let responder = ActionRoutes(
            notifications: notifications,
            audit: audit.map(VerbAudit.init),
            port: port
        ).router()
            .buildResponder()
        let onReady = onReady
        return try builder.buildServer(
            configuration: ServerConfiguration(
                address: .hostname("127.0.0.1", port: port),
                availableConnectionsDelegate: .maximum(Self.connectionsMax, logger: logger)
            ),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            responder: { request, writer, channel in
                let context = BasicRequestContext(
                    source: ApplicationRequestContextSource(channel: channel, logger: logger)
                )
                var response: Response
                do {
                    response = try await responder.respond(to: request, context: context)
                } catch let error as HTTPParserError {
                    throw error
                } catch let error as HTTPError {
                    response = Response(status: error.status)
                } catch is NIOTooManyBytesError {
                    response = Response(status: .contentTooLarge)
                } catch {
                    response = Response(status: .internalServerError)
                }
                response.headers[.date] = HTTPDate.text(unixSeconds: Int64(time(nil)))
                try await writer.write(response: response.head, body: response.body)
            },
            onServerRunning: { _ in onReady() }
        )
    }

    private static let connectionsMax = 16

    private var builder: HTTPServerBuilder {
        .http1(configuration: .bounded(ControlLimits(), first: []))
    }
}
