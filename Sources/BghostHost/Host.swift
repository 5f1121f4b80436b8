// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
package import BghostBase
package import BghostConfiguration
internal import BghostDispatch
internal import BghostFacts
internal import BghostInspection
package import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostSandbox
internal import BghostServices
internal import BghostStore
internal import Glibc

/// The core of the daemon: makes and connects the owners of its state, and passes events to them.
///
/// It is an actor on the reactor's thread. That thread waits for workers, timers and clients, and
/// runs all code of the owners; an incoming frame is therefore handled without a lock and without
/// waking another thread. Nothing here may block.
package actor Host {
    package nonisolated let reactor: Reactor
    nonisolated let family: ProcessFamily
    private let spawner: Spawner
    private nonisolated let controlGroup: ControlGroup?
    let services: HostServices
    let owners: HostOwners
    let commands: HostCommands
    let shutdown: Shutdown
    nonisolated let drainEnd: AsyncStream<Void>

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        reactor.asUnownedSerialExecutor()
    }

    /// Prepares a host.
    ///
    /// Nothing runs before `start`.
    private init(
        _ configuration: HostConfiguration,
        _ state: StateDirectory,
        _ store: any Store
    ) throws(SystemError) {
        let reactor = try Reactor()
        self.reactor = reactor
        let spawner = try Spawner()
        self.spawner = spawner
        let services = HostServices(
            configuration: configuration,
            reactor: reactor,
            clock: DaemonClock(reactor),
            deadlines: Deadlines(reactor),
            spawner: spawner,
            threads: BlockingThreads(),
            state: state
        )
        self.services = services
        // Before the plugins are looked at: one with `cpuQuota` can be used only where there is a group.
        let controlGroup = ControlGroup(name: "bghost-\(getpid())")
        self.controlGroup = controlGroup
        let owners = HostOwners(services, store, controlGroup: controlGroup)
        self.owners = owners
        drainEnd = owners.drain.ended
        family = owners.family
        commands = HostCommands(owners)
        let shutdown = Shutdown(owners.runs, owners.executors)
        self.shutdown = shutdown
        // The reactor ends its first turn before anything else happens.
        owners.connect { [drain = owners.drain] in
            shutdown.check()
            drain.check()
        }
    }

    // MARK: Start

    /// Locks the state directory, opens the store, and starts a host with both.
    package static func running(_ configuration: HostConfiguration) async throws -> Host {
        let state = try StateDirectory(
            configuration.stateDirectory,
            allowsUntrustedFiles: configuration.allowsUntrustedFiles
        )
        let store: any Store
        do {
            try configuration.beforeStart?()
            store = try configuration.openStore(state.path)
        } catch {
            state.unlock()
            throw error
        }
        do {
            let host = try Host(configuration, state, store)
            do {
                try host.reactor.start(client: host)
            } catch {
                host.controlGroup?.remove()
                host.spawner.end()
                throw error
            }
            do {
                try await host.start()
            } catch {
                await host.abandon()
                throw error
            }
            return host
        } catch {
            store.close()
            state.unlock()
            throw error
        }
    }

    /// Recovers the state of the previous daemon and starts to accept requests.
    ///
    /// A plugin that cannot be used does not prevent the start: its tasks wait, and the log and
    /// `status` report the reason.
    private func start() async throws {
        let configuration = services.configuration
        try await owners.transfers.open(configuration.openTransfers) {
            [unowned pool = owners.pool] in
            pool.measureData(ofPlugin: $0)
        } hasPlugin: {
            [unowned plugins = owners.plugins] in
            plugins[$0] != nil
        }
        await owners.registry.definePlugins()
        let before = try begin()
        await owners.audit.logHead()
        // The comparison may take as long as a large manifest needs; the start does not wait for it.
        owners.audit.startNoteBegan()
        Task {
            await owners.reloader.noteStart(since: before)
            owners.audit.startNoteEnded()
        }
    }

    /// Begins to watch the machine, and recovers what is stored.
    ///
    /// - Returns: what the store has of the manifest before.
    private func begin() throws(HostError) -> String? {
        let (dispatcher, dates, runs) = (owners.dispatcher, owners.dates, owners.runs)
        let (notifications, transfers) = (owners.notifications, owners.transfers)
        let commits = owners.commits
        let watchesSteps = services.configuration.watchesClockSteps
        dates.begin(watchesSteps: watchesSteps) { [unowned notifications] in
            notifications.nextDate
        } onDates: { [unowned notifications] in
            notifications.compareDates()
        } onClockSet: { [unowned transfers, unowned alerts = owners.alerts] in
            transfers.clockWasSet()
            alerts.monitor.clockWasSet()
        }
        owners.facts.begin { [unowned transfers, unowned commits] changed in
            // The store's disk may have free space again.
            if changed.contains(.storage) { commits.retryNow() }
            transfers.factsChanged(changed)
        }
        let before = try recover()
        commits.begin { [unowned runs] in
            runs.count == 0
        } onPressure: { [unowned dispatcher] reason in
            dispatcher.decide { scheduler, now, effects in
                scheduler.storeBlocked(reason, now: now, &effects)
            }
        } onHealth: { [unowned reporter = owners.reporter, unowned alerts = owners.alerts] in
            reporter.stateChanged()
            alerts.monitor.storeChanged()
        }
        transfers.onJournalChange = {
            [unowned transfers, unowned reporter = owners.reporter, unowned alerts = owners.alerts]
            in
            reporter.stateChanged()
            alerts.monitor.journalChanged(problem: transfers.journalStatus?.problem)
        }
        reactor.updateNow()
        transfers.startWakes()
        dates.checkClock()
        owners.fleet.begin()
        dispatcher.decide { scheduler, now, effects in scheduler.start(now: now, &effects) }
        owners.pool.prestart()
        services.log.write(
            .info,
            "host.started",
            [
                CountText.of(owners.manifest.value.tasks.count, "task"),
                CountText.of(owners.plugins.all.count, "plugin"),
                CountText.of(dispatcher.scheduler.settings.slots, "slot"),
            ].joined(separator: ", ")
        )
        owners.pool.logLimits()
        owners.alerts.begin(owners.manifest.value)
        for plugin in owners.plugins.all { owners.registry.tellAlerts(of: plugin) }
        owners.alerts.monitor.settle()
        owners.reporter.begin()
        return before
    }

    /// Ends what a failed start has started.
    private func abandon() async {
        await owners.transfers.end()
        controlGroup?.remove()
        reactor.stop()
        spawner.end()
    }

    /// Tells the service manager that the daemon has started; call it when clients can connect.
    package func reportReady() { owners.reporter.ready() }

    // MARK: Questions

    /// Whether a process is one of this host's workers, or was started by one.
    ///
    /// Any thread may call it. It reads a few files of the kernel, which takes some microseconds.
    ///
    /// - Parameters:
    ///   - process: the process ID; 0 if the process is outside the visible PID namespaces.
    ///   - user: the user of the process when it connected.
    package nonisolated func isOwnProcess(_ process: Int32, user: UInt32) -> Bool {
        PluginUsers.contain(user) || family.contains(process)
    }

    /// The number of executors with a completed run that the handler has not released.
    var executorsWithUnreleasedRuns: Int { owners.pool.executorsWithUnreleasedRuns }

    /// The budget that records the inspections of a plugin since the start of the daemon.
    func inspectionBudget(ofPlugin name: String) -> InspectionBudget {
        owners.registry.inspectionBudget(ofPlugin: name)
    }

    /// The thread ID of the reactor.
    var reactorThread: Int32 { reactor.threadID }
}

// The reactor calls these methods on its own thread, which is this actor's executor.
extension Host: ReactorClient {
    package nonisolated func ready(_ token: UInt64, _ readiness: Readiness) {
        assumeIsolated { $0.owners.ready(token, readiness) }
    }

    package nonisolated func deadlinePassed(now: MonotonicInstant) {
        assumeIsolated { host in
            host.services.deadlines.handleDue(now: now) { host.owners.handle($0) }
        }
    }

    package nonisolated func usedCPU(_ value: Int32) {
        assumeIsolated { $0.owners.pool.workerUsedCPU(serial: UInt32(bitPattern: value)) }
    }

    package nonisolated func turnEnded() {
        assumeIsolated { host in
            host.owners.pool.flushWorkers()
            host.owners.loop.turnEnded()
        }
    }
}
