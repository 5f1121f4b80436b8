// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// The station on a socket of the loopback interface, and only there: it has no authentication.
package struct StationServer: Sendable {
    /// Where the sample's tasks.json looks for it.
    package static let defaultPort = 8653
    package static let address = "127.0.0.1"

    /// Why it cannot listen.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        case portTaken(Int, holder: PortHolder?)
        case cannotListen(Int, reason: String)

        package var description: String {
            switch self {
            case .portTaken(let port, nil):
                "port \(port) of \(StationServer.address) is taken by a process that cannot be "
                    + "seen from here (another user's?); have it stopped, or choose another --port"
            case .portTaken(let port, let holder?):
                "port \(port) of \(StationServer.address) is taken by \(holder.name), "
                    + "process \(holder.pid): stop it (kill \(holder.pid)) and try again"
            case .cannotListen(let port, let reason):
                "cannot listen on port \(port) of \(StationServer.address): \(reason)"
            }
        }
    }

    private let station: Station
    private let port: Int

    /// - Parameter port: 0 is any that is free.
    package init(station: Station, port: Int) {
        self.station = station
        self.port = port
    }

    /// The server as a Hummingbird application, not yet listening.
    package func application(
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> Application<RouterResponder<BasicRequestContext>> {
        Application(
            responder: station.router().buildResponder(),
            configuration: ApplicationConfiguration(
                address: .hostname(Self.address, port: port), serverName: "stormy-station"),
            onServerRunning: { channel in
                await onListening(channel.localAddress?.port ?? 0)
            },
            // swift-log writes to stdout unless told otherwise, and stdout is the answer's.
            logger: Logger(label: "stormy-station") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Serves until the task is cancelled, then ends what is under way, for at most two seconds.
    ///
    /// - Parameters:
    ///   - endsOnSignals: whether SIGINT and SIGTERM do the same as a cancellation.
    ///   - onListening: called once with the port.
    package func run(
        endsOnSignals: Bool,
        onListening: @escaping @Sendable (Int) async -> Void
    ) async throws {
        let application = application(onListening: onListening)
        var configuration = ServiceGroupConfiguration(
            services: [
                .init(
                    service: application, successTerminationBehavior: .gracefullyShutdownGroup)
            ],
            gracefulShutdownSignals: endsOnSignals ? [.sigint, .sigterm] : [],
            logger: application.logger)
        configuration.maximumGracefulShutdownDuration = .seconds(2)
        let group = ServiceGroup(configuration: configuration)
        do {
            try await withTaskCancellationHandler {
                try await group.run()
            } onCancel: {
                // Nothing awaits it: it ends as soon as the group has heard.
                Task { await group.triggerGracefulShutdown() }
            }
        } catch let error as IOError {
            guard error.errnoCode == EADDRINUSE else {
                throw Failure.cannotListen(port, reason: error.description)
            }
            throw Failure.portTaken(port, holder: PortHolder.find(listeningOn: port))
        } catch is CancellationError {
            // A connection that did not end in time was cut off.
        }
    }
}
