// SPDX-License-Identifier: Apache-2.0

internal import BghostControl
internal import BghostCore
internal import BghostHost
internal import BghostLinux
internal import BghostStore
internal import BghostTransfer
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// The daemon in the foreground: where its parts are put together.
package enum Daemon {
    /// Runs until it has been asked to stop and has drained.
    package static func run(_ options: RunOptions, _ console: Console) async throws {
        let reading = ManifestFiles.read(options.config)
        for diagnostic in reading.diagnostics {
            console.remark(diagnostic.rendered(color: console.error.hasColor))
        }
        guard let manifest = reading.manifest else {
            throw CommandFailure(
                .badManifest,
                "\(options.config) has \(reading.errors) errors; bghost does not start",
                fix: "bghost check --config \(options.config)"
            )
        }
        let log = ConsoleLog(format: options.logFormat, console: console)
        defer { log.flush() }
        let hostLog = HostLog(level: options.logLevel, console: log)
        let state = try stateDirectory(options, manifest)
        let fetcher = HTTPFetcher()
        let journal = try options.record.map { path throws(CommandFailure) in
            try DecisionFile(path, log: hostLog)
        }
        var configuration = HostConfiguration(
            manifest: manifest.with(slots: options.slots),
            manifestPath: reading.path,
            manifestDirectory: reading.directory,
            stateDirectory: state,
            workerPath: try InstalledFiles.worker(),
            pluginPath: pluginPath(options),
            openStore: { directory throws(StoreError) in
                try SQLiteStore(path: directory + "/bghost.sqlite") { error in
                    hostLog.write(.error, "store.failed", error.description)
                }
            },
            fetcher: fetcher,
            log: hostLog,
            isSubreaper: true
        )
        configuration.recorder = journal
        Orphan.adopt()
        let host = try await start(configuration)
        let socket =
            options.control.map(ControlLocation.normalized) ?? manifest.host.controlSocket
            ?? ControlLocation.socket(inStateDirectory: state)
        do {
            try await serve(host, socket, hostLog)
        } catch {
            await host.drain()
            await fetcher.shutDown()
            await journal?.finish()
            throw error
        }
        await fetcher.shutDown()
        await journal?.finish()
    }

    private static func start(_ configuration: HostConfiguration) async throws -> Host {
        do {
            return try await Host.running(configuration)
        } catch let error as HostError {
            throw CommandFailure(.taken, error.description)
        } catch let error as StoreError {
            throw CommandFailure(.taken, error.description)
        } catch let error as SystemError {
            throw CommandFailure(.internalError, "bghost cannot start: \(error.description)")
        }
    }

    /// Serves the control socket until a signal comes.
    ///
    /// The host drains first, while clients can still watch; a second signal ends that at once.
    private static func serve(_ host: Host, _ socket: String, _ log: HostLog) async throws {
        let server = ControlServer(
            host: host,
            socketPath: socket,
            onReady: {
                log.write(.info, "control.ready", "listening on \(socket)")
            }
        )
        var group = ServiceGroupConfiguration(
            services: [
                .init(service: server, successTerminationBehavior: .gracefullyShutdownGroup),
                .init(service: HostService(host: host, log: log)),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "bghost.services") { _ in SwiftLogNoOpLogHandler() }
        )
        group.maximumCancellationDuration = .seconds(5)
        try await ServiceGroup(configuration: group).run()
    }

    private static func stateDirectory(
        _ options: RunOptions,
        _ manifest: Manifest
    ) throws -> String {
        let chosen =
            options.stateDirectory.map(ControlLocation.normalized)
            ?? manifest.host.stateDirectory ?? ControlLocation.stateDirectory()
        guard let chosen else {
            throw CommandFailure(
                .usage,
                "there is no place for bghost's state: HOME is not set",
                fix: "name a directory with --state-dir"
            )
        }
        return chosen
    }

    private static func pluginPath(_ options: RunOptions) -> [String] {
        InstalledFiles.pluginPath(options.pluginPaths.map(ControlLocation.normalized))
    }
}

extension Manifest {
    fileprivate func with(slots: Int?) -> Manifest {
        guard let slots else { return self }
        var manifest = self
        manifest.host.slots = slots
        return manifest
    }
}

/// Drains the host when the group shuts down.
///
/// It has a description because the group asks for one, and would else be given everything that the
/// host is made of, by reflection.
private struct HostService: Service, CustomStringConvertible {
    let host: Host
    let log: HostLog

    var description: String { "the host" }

    func run() async throws {
        try? await gracefulShutdown()
        await host.drain()
    }
}
