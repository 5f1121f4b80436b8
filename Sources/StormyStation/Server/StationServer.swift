// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// The station on a socket of the loopback interface only, because it has no authentication.
package struct StationServer: Sendable {
    /// The port that the sample's tasks.json expects.
    package static let defaultPort = 8653
    package static let address = "127.0.0.1"

    /// The error if the server cannot listen.
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

    /// - Parameter port: 0 means any free port.
    package init(station: Station, port: Int) {
        self.station = station
        self.port = port
    }

    /// Creates the Hummingbird application, which does not listen yet.
    package func application(
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> Application<RouterResponder<StationContext>> {
        Application(
            responder: station.router().buildResponder(),
            configuration: ApplicationConfiguration(
                address: .hostname(Self.address, port: port),
                serverName: "stormy-station"
            ),
            onServerRunning: { channel in
                await onListening(channel.localAddress?.port ?? 0)
            },
            // swift-log writes to stdout by default, but stdout is for the answer.
            logger: Logger(label: "stormy-station") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Serves until SIGINT or SIGTERM, and then ends open requests within two seconds.
    ///
    /// - Parameter onListening: called once with the port.
    package func run(onListening: @escaping @Sendable (Int) async -> Void) async throws {
        try await serve(serviceGroup(onListening: onListening, signals: [.sigint, .sigterm]))
    }

    /// Serves during `work`.
    ///
    /// - Parameter work: called with the port when the station accepts connections.
    /// - Throws: ``Failure`` if the station cannot listen; `work` is then not called.
    package func run<Value: Sendable>(
        during work: @Sendable (Int) async -> Value
    ) async throws -> Value {
        let (listening, teller) = AsyncStream<Int>.makeStream()
        let group = serviceGroup(onListening: { teller.yield($0) }, signals: [])
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { teller.finish() }
                try await serve(group)
            }
            var ports = listening.makeAsyncIterator()
            guard let port = await ports.next() else {
                try await tasks.waitForAll()
                throw CancellationError()
            }
            let value = await work(port)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return value
        }
    }

    private func serviceGroup(
        onListening: @escaping @Sendable (Int) async -> Void,
        signals: [UnixSignal]
    ) -> ServiceGroup {
        let application = application(onListening: onListening)
        var configuration = ServiceGroupConfiguration(
            services: [
                .init(
                    service: application,
                    successTerminationBehavior: .gracefullyShutdownGroup
                )
            ],
            gracefulShutdownSignals: signals,
            logger: application.logger
        )
        configuration.maximumGracefulShutdownDuration = .seconds(2)
        return ServiceGroup(configuration: configuration)
    }

    private func serve(_ group: ServiceGroup) async throws {
        do {
            try await group.run()
        } catch let error as IOError {
            guard error.errnoCode == EADDRINUSE else {
                throw Failure.cannotListen(port, reason: error.description)
            }
            throw Failure.portTaken(port, holder: PortHolder.find(listeningOn: port))
        } catch is CancellationError {
            // Some connections did not end in time and were closed.
        }
    }
}
