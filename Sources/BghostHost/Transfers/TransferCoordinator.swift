// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostFacts
internal import BghostLinux
internal import BghostMetrics
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostTransferRules
internal import BghostTransfer
internal import BghostTransferBridge
internal import Glibc
internal import Synchronization

/// Connects the transfer engine with the daemon: runs that begin transfers and wait for them, the wakes of
/// sessions whose transfers have ended, and the conditions under which transfers may start.
///
/// The engine has its own executor. The host owns this object; use it on the reactor's thread only. It does
/// not block.
final class TransferCoordinator {
    /// The state of transfers; `nil` if the manifest has no sessions and no earlier daemon left transfers.
    var table: TransferTable?
    let dispatcher: Dispatcher
    let commits: CommitQueue
    let intake: RequestIntake
    let replies: CallReplies
    let executors: ExecutorTable
    let runs: RunTable
    let clock: DaemonClock
    let log: HostLog
    let manifestPath: String
    /// The delay of the next wake of a session whose handler creates new transfers in each, nanoseconds.
    let wakePause: Int64
    private let spans: (any SpanRecorder)?
    private let onTransfer: (@Sendable (TransferRecord) -> Void)?
    private let state: StateDirectory
    private let dataDirectories: DataDirectories
    private let reactor: Reactor
    private let spawner: Spawner
    private let manifest: () -> Manifest
    /// Measures the data directory of a plugin, which a transfer may have filled.
    private(set) var measureData: (_ plugin: String) -> Void = { _ in }
    /// Whether the manifest still has a plugin.
    private(set) var hasPlugin: (_ plugin: String) -> Bool = { _ in false }
    /// Called when the journal has begun or ceased to fail.
    var onJournalChange: () -> Void = {}
    private(set) lazy var reference = ReactorReference(self, on: reactor)

    init(
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ intake: RequestIntake,
        _ replies: CallReplies,
        _ executors: ExecutorTable,
        _ runs: RunTable,
        _ clock: DaemonClock,
        _ dataDirectories: DataDirectories,
        state: StateDirectory,
        reactor: Reactor,
        spawner: Spawner,
        configuration: HostConfiguration,
        manifest: @escaping () -> Manifest
    ) {
        self.dispatcher = dispatcher
        self.commits = commits
        self.intake = intake
        self.replies = replies
        self.executors = executors
        self.runs = runs
        self.clock = clock
        self.dataDirectories = dataDirectories
        self.state = state
        self.reactor = reactor
        self.spawner = spawner
        self.manifest = manifest
        log = configuration.log
        spans = configuration.spans
        onTransfer = configuration.onTransfer
        manifestPath = configuration.manifestPath
        wakePause = configuration.timeouts.wake
    }

    /// What became of transfers since the start of the daemon; `nil` without an engine.
    var counts: TransferStatistics? { table?.engine.counter.value }

    // MARK: Start and end

    /// Recovers the transfers of an earlier daemon, and starts the engine if transfers are possible.
    ///
    /// - Parameters:
    ///   - openJournal: opens the journal in the state directory.
    ///   - measureData: measures the data directory of a plugin, which a transfer may have filled.
    ///   - hasPlugin: whether the manifest has a plugin.
    nonisolated(nonsending) func open(
        _ openJournal: (_ stateDirectory: String) throws -> any TransferJournal,
        measureData: @escaping (_ plugin: String) -> Void,
        hasPlugin: @escaping (_ plugin: String) -> Bool
    ) async throws {
        self.measureData = measureData
        self.hasPlugin = hasPlugin
        let manifest = manifest()
        let isLeft = access("\(state.path)/\(StateDirectory.transfersName)", F_OK) == 0
        // Without sessions and old transfers, the daemon needs no second database.
        guard !manifest.sessions.isEmpty || isLeft else { return }
        let journal = try openJournal(state.path)
        let bridge = TransferBridge(log: log, onChange: onTransfer)
        bridge.clockOffset.store(clock.offset, ordering: .relaxed)
        bridge.accesses.withLock { $0 = transferAccesses() }
        let engine = TransferEngine(
            journal: journal,
            clock: TransferBridgeClock(bridge: bridge),
            observer: bridge,
            spans: spans,
            requirements: { request in
                !request.isDiscretionary || bridge.isGoodMoment.load(ordering: .relaxed)
            },
            access: { plugin in bridge.accesses.withLock { $0[plugin] } }
        )
        let table = TransferTable(
            engine: engine,
            journal: journal,
            bridge: bridge,
            sessions: manifest.sessions
        )
        self.table = table
        // Without these sizes, resumed transfers could fill a folder that has little room left.
        await measureDataRooms()
        try await engine.recover()
        bridge.onEvent { [reference] in reference.perform { $0.takeEvents() } }
    }

    /// Measures the data directories of plugins that have sessions.
    ///
    /// The daemon starts with unknown sizes, and `definePlugins` runs later. Each measurement is bounded
    /// by the plugin's limits of bytes and files, and runs on a thread that may block.
    private nonisolated(nonsending) func measureDataRooms() async {
        let manifest = manifest()
        let owners = Set(manifest.sessions.map(\.plugin))
        for plugin in manifest.plugins where owners.contains(plugin.name) {
            await dataDirectories.measureRoom(
                of: plugin.name,
                DataDirectories.Limits(plugin.limits)
            )
        }
    }

    /// The hosts, files and disk space that the transfers of each plugin may use.
    private func transferAccesses() -> [String: TransferAccess] {
        var accesses: [String: TransferAccess] = [:]
        let trees = WritableTrees(manifest(), dataFolder: state.dataFolder)
        for plugin in manifest().plugins {
            // If the directory cannot be created, the inspection of the plugin reports the problem.
            guard let data = try? state.dataDirectory(of: plugin.name) else { continue }
            let permissions = plugin.permissions
            accesses[plugin.name] = TransferAccess(
                writable: permissions.write + [data],
                readable: permissions.read + permissions.write + [data],
                among: trees,
                room: room(of: plugin, in: data)
            ) { host, port in
                permissions.network.contains { $0.allows(host: host, port: port) }
            }
        }
        return accesses
    }

    /// The disk space of a plugin's data directory; a reload keeps the object and its counts.
    private func room(of plugin: PluginDefinition, in folder: String) -> DataRoom? {
        guard plugin.isolation == .worker else { return nil }
        return dataDirectories.room(
            of: plugin.name,
            in: folder,
            DataDirectories.Limits(plugin.limits)
        ) { [reference] in
            // The transfer retries independently.
            reference.perform { $0.measureData(plugin.name) }
        }
    }

    /// Applies the permissions of a new manifest.
    func renewAccesses() {
        guard let bridge = table?.bridge else { return }
        bridge.accesses.withLock { $0 = transferAccesses() }
    }

    /// Stops all attempts; unfinished transfers continue with the next daemon.
    nonisolated(nonsending) func end() async {
        guard let table else { return }
        // Wait until the engine has recorded all handled ends; otherwise the next daemon reports them again.
        while let message = table.pendingMessages.first {
            await message.value.value
            table.pendingMessages[message.key] = nil
        }
        self.table = nil
        await table.engine.shutDown()
        let journal = table.journal
        let lost = await CommitQueue.flush(on: spawner) { deadline in
            defer { journal.close() }
            return journal.flush(until: deadline)
        }
        guard lost > 0 else { return }
        log.write(
            .error,
            "transfer.journal_gave_up",
            "could not store the state of " + CountText.of(lost, "transfer")
                + " before the end: the next start continues with the state before"
        )
    }

    /// The state of the journal for `status`; `nil` if none is open.
    var journalStatus: TransferJournalStatus? {
        guard let health = table?.journal.health else { return nil }
        return TransferJournalStatus(
            failingSince: health.failure?.since,
            problem: health.failure?.error.description,
            isFinal: health.failure?.isFinal ?? false,
            waiting: health.waiting
        )
    }

    // MARK: Conditions

    /// Tells the engine when its conditions are met or unmet.
    func factsChanged(_ changed: RequirementSet) {
        guard let table else { return }
        let isGood = dispatcher.scheduler.unmet(SessionDefinition.discretionary).isEmpty
        let wasGood = table.bridge.isGoodMoment.exchange(isGood, ordering: .relaxed)
        let isBack = changed.contains(.network) && dispatcher.scheduler.unmet(.network).isEmpty
        guard isGood != wasGood || isBack else { return }
        let engine = table.engine
        // The task is not awaited; the engine reads the current conditions when it runs.
        Task {
            if isGood != wasGood { await engine.requirementsChanged() }
            if isBack { await engine.networkReturned() }
        }
    }

    /// Tells the engine that the wall clock was set.
    func clockWasSet() {
        guard let table else { return }
        table.bridge.clockOffset.store(clock.offset, ordering: .relaxed)
        let engine = table.engine
        Task { await engine.requirementsChanged() }
    }
}
