// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostAlertTransport
internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostFleet
internal import BghostFleetStore
internal import BghostHost
internal import BghostLinux
internal import BghostLogFiles
internal import BghostManifest
internal import BghostModel
internal import BghostServices
internal import BghostTerminal
internal import BghostTransferRules
internal import BghostControl
internal import BghostStore
internal import BghostTraces
internal import BghostTransfer
internal import Logging
internal import ServiceLifecycle
internal import Synchronization
internal import UnixSignals

/// The daemon in the foreground: creates and connects its parts.
enum Daemon {
    /// Runs until the daemon is stopped and has drained.
    static func run(_ options: RunOptions, _ console: Console) async throws {
        let service = try ServiceLink(ServiceEnvironment.take())
        let read = { @Sendable in
            ManifestFiles.read(
                options.config,
                allowsUntrustedFiles: options.allowsUntrustedFiles
            )
        }
        let reading = read()
        for diagnostic in reading.diagnostics {
            console.remark(diagnostic.rendered(color: console.error.hasColor))
        }
        guard let written = reading.manifest else { throw reading.failure }
        try options.developmentLibraries.requirePlugins(of: written)
        let manifest = options.developmentLibraries.applied(to: written)
        if !options.allowsUntrustedFiles, let doubt = reading.doubt() {
            throw CommandFailure(
                .badManifest,
                "\(reading.path) is not to be trusted: \(doubt)",
                fix: "or start bghost with --dev, on a machine of your own"
            )
        }
        let log = ConsoleLog(format: options.logFormat, console: console)
        defer { log.flush() }
        let state = try stateDirectory(options, manifest)
        let files = LogFileSetup.files(state, options)
        defer { files.flush() }
        let hostLog = HostLog(level: options.logLevel, console: log, archive: files)
        LogFileSetup.report(problemsOf: files, to: hostLog)
        for (plugin, path) in options.developmentLibraries.paths.sorted(by: { $0.key < $1.key }) {
            hostLog.write(
                .warning,
                "plugin.overridden",
                "\(plugin) is \(path), unsigned and unpinned, and not the library of the manifest"
            )
        }
        let fetcher = HTTPFetcher()
        let alerts = HTTPAlertTransport()
        let traces = TraceLink(manifest.host.traces, hostLog)
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
                try SQLiteStore(
                    path: "\(directory)/\(StateDirectory.storeName)",
                    retention: .init(policy: HistoryPolicy(manifest))
                ) { error in
                    hostLog.write(.error, "store.failed", error.description)
                }
            },
            fetcher: fetcher,
            log: hostLog,
            isSubreaper: true
        )
        configuration.openTransfers = { directory throws(TransferJournalError) in
            try SQLiteTransferJournal(path: "\(directory)/\(StateDirectory.transfersName)")
        }
        configuration.recorder = journal
        configuration.alertTransport = alerts
        configuration.spans = traces.exporter
        configuration.applyTraces = { traces.exporter.apply($0) }
        if let fleet = manifest.host.fleet {
            configuration.fleetLink = { directory in
                PostgreSQLFleet(
                    fleet,
                    instance: FleetInstance.id(inStateDirectory: directory),
                    version: BghostVersion.text
                )
            }
            if manifest.tasks.contains(where: \.isInFleet) {
                configuration.partitions = {
                    SharedPartitions(
                        PostgreSQLPartitions(
                            connection: fleet.connection,
                            partitions: PartitionID.count,
                            timeout: fleet.leaseNanoseconds / 4
                        )
                    )
                }
            }
        }
        configuration.allowsUntrustedFiles = options.allowsUntrustedFiles
        configuration.developmentPlugins = options.developmentLibraries.paths.keys.sorted()
        configuration.notify = service.notify
        configuration.watchdogTimeout = service.watchdogTimeout
        configuration.rereadManifest = {
            let reading = read()
            return RereadManifest(
                manifest: reading.manifest.map {
                    options.developmentLibraries.applied(to: $0).with(slots: options.slots)
                },
                diagnostics: reading.diagnostics,
                digest: reading.digest,
                doubt: options.allowsUntrustedFiles ? nil : reading.doubt()
            )
        }
        let named =
            options.control.map(ControlLocation.normalized) ?? manifest.host.controlSocket
        let socket =
            try service.controlPath(named: named) ?? named
            ?? ControlLocation.socket(inStateDirectory: state)
        // Claim the socket before any run starts: if it is in use, the daemon ends at once.
        let claim = Mutex<SocketClaim?>(nil)
        configuration.beforeStart = {
            let own = try SocketClaim(path: socket, inherited: service.controlSocket)
            claim.withLock { $0 = own }
            try LogFileSetup.begin(files, manifest.host.log, hostLog)
        }
        let group = try group(manifest.host)
        Orphan.adopt()
        ProcessShield.raise()
        FileSizeLimit.fail()
        let host = try await CommandFailure.starting { [configuration] in
            try await Host.running(configuration)
        }
        do {
            let port = manifest.notifications?.actionPort
            if group != nil { warn(ifClosed: socket, hostLog) }
            let record = note(socket, ofManifest: reading.path, hostLog)
            defer { record?.remove(socket: socket) }
            try await serve(
                host,
                socket,
                claim.withLock { $0 },
                group,
                port,
                manifest.host.dashboard.map(Dashboard.init),
                watching: manifest.host.onChange == .reload ? reading.path : nil,
                hostLog
            )
        } catch {
            await host.drain()
            await fetcher.shutDown()
            await alerts.shutDown()
            await traces.shutDown()
            await journal?.finish()
            throw error
        }
        await fetcher.shutDown()
        await alerts.shutDown()
        await traces.shutDown()
        await journal?.finish()
    }

    /// Writes a record of the socket, for clients that know only the manifest.
    private static func note(
        _ socket: String,
        ofManifest path: String,
        _ log: HostLog
    ) -> DaemonRecord? {
        guard let record = DaemonRecord(manifest: path) else { return nil }
        do throws(SystemError) {
            try record.write(socket: socket)
            return record
        } catch {
            log.write(
                .debug,
                "control.unnoted",
                "clients need --control or --state-dir if the manifest does not name the socket:"
                    + " \(error.description)"
            )
            return nil
        }
    }

    /// Serves the control socket until a signal arrives.
    ///
    /// The host drains first, while clients can still connect; a second signal ends the drain at once.
    private static func serve(
        _ host: Host,
        _ socket: String,
        _ claim: SocketClaim?,
        _ group: ControlAccess.Group?,
        _ actionPort: Int?,
        _ dashboard: Dashboard?,
        watching path: String?,
        _ log: HostLog
    ) async throws {
        // The services begin in any order, so a manager that has heard READY=1 could hang up too early.
        let hangUps = await UnixSignalsSequence(trapping: .sighup)
        let onVerb: @Sendable (ControlVerb) -> Void = { verb in
            log.write(.info, "control.verb", verb.sentence)
        }
        let server = ControlServer(
            host: host,
            notifications: host,
            dashboard: dashboard,
            socketPath: socket,
            claim: claim,
            access: ControlAccess(group: group) { peer in
                host.isOwnProcess(peer.pid, user: peer.uid)
            },
            onVerb: onVerb,
            onReady: {
                log.write(.info, "control.ready", "listening on \(socket)")
                await host.reportReady()
            }
        )
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            // The group stops its services from the last to the first, so this one stops at the end.
            .init(service: ForcedShutdownService(host: host)),
            .init(service: server, successTerminationBehavior: .gracefullyShutdownGroup),
            .init(service: HostService(host: host, log: log)),
            .init(service: ReloadService(host: host, log: log, signals: hangUps)),
            .init(
                service: DrainService(host: host),
                successTerminationBehavior: .gracefullyShutdownGroup
            ),
        ]
        if let path {
            services.append(.init(service: ManifestWatch(host: host, log: log, path: path)))
        }
        if let actionPort { services.append(.init(service: actions(host, actionPort, log))) }
        if let dashboard {
            services.append(
                .init(
                    service: DashboardServer(
                        host: host,
                        notifications: host,
                        dashboard: dashboard,
                        onVerb: onVerb,
                        onReady: {
                            log.write(.info, "dashboard.ready", "the dashboard is at \($0)")
                        },
                        onFailure: { log.write(.error, "dashboard.failed", $0) }
                    )
                )
            )
        }
        var group = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "bghost.services") { _ in SwiftLogNoOpLogHandler() }
        )
        group.maximumCancellationDuration = .seconds(5)
        try await ServiceGroup(configuration: group).run()
    }

    /// The group whose members may use the socket in addition to the daemon's user.
    private static func group(_ host: HostSettings) throws -> ControlAccess.Group? {
        guard let name = host.controlGroup else { return nil }
        guard let group = ControlAccess.Group(named: name, role: host.controlRole) else {
            throw CommandFailure(
                .badManifest,
                "`host.controlGroup` is `\(name)`, and this system has no such group",
                fix: "make it with: groupadd \(name)"
            )
        }
        return group
    }

    /// Warns if the folder's mode prevents the group from using the socket.
    private static func warn(ifClosed socket: String, _ log: HostLog) {
        let folder = socket.lastIndex(of: "/").map { String(socket[..<$0]) } ?? ""
        // The claim has just checked the folder; if it was removed since, the server reports that.
        guard let facts = try? FileFacts(of: folder, followsLinks: true),
            facts.permissions & 0o011 == 0
        else { return }
        log.write(
            .warning,
            "control.closed",
            "only the owner of \(folder) can enter it, so members of `host.controlGroup` cannot reach"
                + " the socket: name another place with `host.control`"
        )
    }

    private static func actions(_ host: Host, _ port: Int, _ log: HostLog) -> ActionServer {
        ActionServer(
            notifications: host,
            audit: host,
            port: port,
            onReady: {
                log.write(.info, "actions.ready", "links to actions at http://127.0.0.1:\(port)")
            },
            onFailure: { log.write(.error, "actions.failed", $0) }
        )
    }

    private static func stateDirectory(
        _ options: RunOptions,
        _ manifest: Manifest
    ) throws -> String {
        let chosen =
            options.stateDirectory.map(ControlLocation.normalized)
            ?? manifest.host.stateDirectory ?? ControlLocation.stateDirectory()
        guard let chosen else { throw noStateDirectory }
        return chosen
    }

    static let noStateDirectory = CommandFailure(
        .usage,
        "there is no place for bghost's state: HOME is not set",
        fix: "name a directory with --state-dir"
    )

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

/// Drains the host when the service group shuts down.
///
/// The group logs a description of each service; without this one, it would print the whole host by
/// reflection.
private struct HostService: Service, CustomStringConvertible {
    let host: Host
    let log: HostLog

    var description: String { "the host" }

    func run() async throws {
        // The wait throws when the service is cancelled; drain the host in this case too.
        try? await gracefulShutdown()
        // After a drain that an operator asked for, there was no signal, and its row is there.
        let status = await host.drainStatus()
        if !status.draining || status.finishing {
            // A daemon that cannot note its end ends in any case.
            await host.noteLater(
                AuditEntry(at: WallClock.now, AuditActor(.signal), verb: "drain", status: .begun)
            )
        }
        await host.drain()
    }
}
