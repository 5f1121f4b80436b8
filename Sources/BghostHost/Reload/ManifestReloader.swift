// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostInspection
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostWire
internal import BghostTransferBridge

/// Replaces the manifest while runs are running.
///
/// It reads and checks the new manifest and loads its plugins in temporary workers, on other threads and
/// without side effects. Then it replaces the manifest in one step between two events.
///
/// The host owns it. Use it on the reactor's thread only.
final class ManifestReloader: SharesServices {
    let services: HostServices
    let manifest: CurrentManifest
    let plugins: PluginTable
    private let executors: ExecutorTable
    let registry: PluginRegistry
    private let pool: WorkerPool
    private let dispatcher: Dispatcher
    private let transfers: TransferCoordinator
    private let facts: FactWatch
    private let dataDirectories: DataDirectories
    @Connected private var reporter: ServiceReporter
    private var isReloading = false
    private var isDryRunning = false
    /// Whether the reload takes up changed files by itself; a reload of the operator then waits for it.
    private var isAdopting = false
    /// The digest of the files that were refused last; `nil` if none were.
    private var refusedFiles: String?
    /// Whether the store has got the manifest of a reload.
    private var hasKept = false
    private var turns: [CheckedContinuation<Void, Never>] = []
    /// The number of tasks that were looked at for the plugins of new manifests: work, which tests count.
    var tasksVisited = 0

    private var isDraining: Bool { dispatcher.scheduler.isDraining }

    init(
        _ services: HostServices,
        _ registry: PluginRegistry,
        _ pool: WorkerPool,
        _ transfers: TransferCoordinator,
        _ facts: FactWatch
    ) {
        self.services = services
        self.registry = registry
        self.pool = pool
        self.transfers = transfers
        self.facts = facts
        manifest = registry.manifest
        plugins = registry.plugins
        dispatcher = registry.dispatcher
        executors = pool.executors
        dataDirectories = pool.dataDirectories
    }

    /// Sets who reports reloads to the service manager.
    func connect(_ reporter: ServiceReporter) { self.reporter = reporter }

    /// Reads the manifest again, and replaces the current one with it.
    nonisolated(nonsending) func reload() async throws(OperatorRefusal) -> ReloadReport {
        try await reload(ofFiles: false)
    }

    private nonisolated(nonsending) func reload(
        ofFiles: Bool
    ) async throws(OperatorRefusal) -> ReloadReport {
        reporter.reloadBegan()
        defer { reporter.reloadEnded() }
        do throws(OperatorRefusal) {
            let report = try await reloadOnce(ofFiles: ofFiles)
            logWhenNoted(.info, "manifest.reloaded", report.logText)
            AuditDetail.current?.add(report.linesWithoutSecrets)
            return report
        } catch {
            let details = error.candidates.map { "\n  \($0)" }.joined()
            logWhenNoted(.error, "manifest.refused", error.message + details)
            throw error
        }
    }

    private nonisolated(nonsending) func reloadOnce(
        ofFiles: Bool
    ) async throws(OperatorRefusal) -> ReloadReport {
        guard let reread = configuration.rereadManifest else { throw .noManifestFile }
        while isAdopting || ofFiles && isReloading {
            await withCheckedContinuation { turns.append($0) }
        }
        guard !isReloading else {
            throw OperatorRefusal(
                .unavailable,
                "another reload is under way",
                fix: "try again once it has ended"
            )
        }
        isReloading = true
        isAdopting = ofFiles
        defer { endReload() }
        let (wanted, comparison) = try await read(reread)
        let replaced = await replacedPlugins(wanted)
        let found = await adopted(try await probe(wanted, replaced))
        // A shutdown may have been requested during the probes.
        guard !isDraining else {
            throw OperatorRefusal(.unavailable, "bghost is stopping and takes up no other manifest")
        }
        let report = swap(wanted, replaced, found, comparison)
        hasKept = true
        registry.commits.commit([
            .manifest(await Self.onDedicatedThread { KeptManifest(wanted).text })
        ])
        return report
    }

    /// Notes how the manifest of this start differs from the one that the daemon before took up last.
    ///
    /// It returns when the row of the audit is stored or the store fails; the log says it after that.
    ///
    /// - Parameter before: what the store has of that; `nil` if it has nothing.
    nonisolated(nonsending) func noteStart(since before: String?) async {
        let first = manifest.value
        let step = await Self.onDedicatedThread { ManifestStep(to: first, from: before) }
        guard let text = step.text else { return }
        // A reload that came between has kept what is newer.
        let changes: [StoreChange] = hasKept ? [] : [.manifest(text)]
        guard let report = step.report else {
            if !changes.isEmpty { registry.commits.commit(changes) }
            return
        }
        let detail = AuditDetail()
        detail.add(report.linesWithoutSecrets)
        let entry = AuditEntry(
            at: WallClock.now,
            AuditActor(.start),
            verb: "start",
            target: configuration.manifestPath,
            status: .done,
            detail: detail.text
        )
        // Operators who read the line ask for the row next.
        await registry.commits.committed(changes, auditedBy: entry)
        log.write(
            .info,
            "manifest.changed",
            "changed since it was taken up last: \(report.logText)"
        )
    }

    // MARK: Changed files

    /// Whether the files are not those of the manifest in force.
    ///
    /// - Parameter isNamed: whether files that were refused count too.
    nonisolated(nonsending) func hasChangedFiles(isNamed: Bool) async -> Bool {
        guard let reread = configuration.rereadManifest else { return false }
        // The files may be those that a reload under way takes up.
        while isReloading { await withCheckedContinuation { turns.append($0) } }
        let reading = await Self.onDedicatedThread { reread() }
        guard reading.digest != manifest.value.digest else {
            refusedFiles = nil
            return false
        }
        return isNamed || reading.digest != refusedFiles
    }

    /// Takes up the changed files, after any reload under way; one of the operator waits for it.
    nonisolated(nonsending) func reloadFiles() async throws(OperatorRefusal) -> ReloadReport {
        try await reload(ofFiles: true)
    }

    /// Reads the manifest and checks that a reload may adopt it; the reading and the comparison with the
    /// manifest in force are done on another thread.
    private nonisolated(nonsending) func read(
        _ reread: @escaping @Sendable () -> RereadManifest,
        isDryRun: Bool = false
    ) async throws(OperatorRefusal) -> (wanted: Manifest, WrittenComparison) {
        let path = configuration.manifestPath
        let (reading, comparison) = await Self.onDedicatedThread { [before = manifest.value] in
            let reading = reread()
            return (reading, reading.manifest.map { WrittenComparison($0, since: before) })
        }
        // Until it is in force.
        if !isDryRun { refusedFiles = reading.digest }
        if let doubt = reading.doubt { throw .untrusted(path, doubt) }
        guard let wanted = reading.manifest, let comparison else {
            throw .badManifest(reading.diagnostics.errorLines, path: path)
        }
        try check(wanted)
        return (wanted, comparison)
    }

    /// Says what a reload would change, or why it would be refused; it changes nothing.
    ///
    /// Plugins are inspected and loaded in temporary workers as by a reload.
    nonisolated(nonsending) func dryRun() async throws(OperatorRefusal) -> ReloadReport {
        guard let reread = configuration.rereadManifest else { throw .noManifestFile }
        // Each takes processes and threads.
        guard !isDryRunning else {
            throw OperatorRefusal(
                .unavailable,
                "another dry run of a reload is under way",
                fix: "try again once it has ended"
            )
        }
        isDryRunning = true
        defer { isDryRunning = false }
        let (wanted, comparison) = try await read(reread, isDryRun: true)
        let replaced = await replacedPlugins(wanted)
        _ = try await probe(wanted, replaced, isDryRun: true)
        let names = dispatcher.scheduler.catalog.plugins.map(\.name)
        // A copy decides what the scheduler itself would; its decisions are not carried out.
        var scheduler = dispatcher.scheduler
        var effects: [SchedulerEffect] = []
        let outcome = scheduler.reload(
            wanted,
            slots: wanted.slots,
            replacing: replaced,
            keeping: plugins.inUse,
            now: dispatcher.moment(),
            &effects
        )
        var report = ReloadReport(
            outcome,
            from: (manifest.value, names),
            to: (wanted, scheduler.catalog),
            comparison,
            replaced: replaced
        )
        report.dryRun = true
        return report
    }

    private func endReload() {
        isReloading = false
        isAdopting = false
        let waiting = turns
        turns = []
        for turn in waiting { turn.resume() }
    }

    /// Performs blocking work on a dedicated thread.
    private nonisolated(nonsending) static func onDedicatedThread<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            let thread = WorkThread()
            thread.perform { continuation.resume(returning: body()) }
            thread.end()
        }
    }

    private func check(_ wanted: Manifest) throws(OperatorRefusal) {
        var changes = RestartCheck.changes(from: manifest.value, to: wanted)
        let slots = wanted.slots
        for executor in executors.all
        where !executor.isProcess && executor.runOfSlot.count < min(slots, Int(WorkerSlot.max)) {
            changes.append(
                "`host.slots` would be \(slots), and `\(executor.plugin.name)` was loaded into the daemon"
                    + " for \(executor.runOfSlot.count)"
            )
        }
        let unheld =
            wanted.plugins.first { registry.isUnheld($0.limits, $0.isolation) }?.name
            ?? wanted.functions.first { registry.isUnheld($0.limits, .worker) }?.name
        if let unheld, !configuration.allowsUntrustedFiles {
            throw OperatorRefusal(.unavailable, "`\(unheld)`: \(PluginRegistry.unheld)")
        }
        guard changes.isEmpty else {
            throw .needsRestart(changes, path: configuration.manifestPath)
        }
    }

    /// Adopts changed files of one plugin, as a reload of the same manifest would.
    nonisolated(nonsending) func adoptChangedFiles(of name: String) async {
        guard !isDraining, let plugin = plugins[name] else { return }
        guard !isReloading else { return registry.scheduleCheck(at: plugin) }
        isReloading = true
        isAdopting = true
        defer { endReload() }
        let same = manifest.value
        do throws(OperatorRefusal) {
            let found = await adopted(try await probe(same, [name], only: name))
            guard !isDraining else { return }
            _ = swap(same, [name], found, WrittenComparison())  // It reports no difference.
            log.write(
                .info,
                "plugin.replaced",
                "its library was replaced and taken up",
                plugin: name
            )
        } catch {
            registry.refuse(plugin, error.candidates.first ?? error.message)
        }
    }

    // MARK: The swap

    /// Replaces the manifest in one step.
    ///
    /// Afterwards only running runs use the old manifest.
    private func swap(
        _ wanted: Manifest,
        _ replaced: [String],
        _ found: [String: PluginFindings],
        _ comparison: WrittenComparison
    ) -> ReloadReport {
        let before = manifest.replace(with: wanted)
        refusedFiles = nil
        registry.commits.keep(history: HistoryPolicy(wanted))
        log.apply(wanted.host.log)
        let names = dispatcher.scheduler.catalog.plugins.map(\.name)
        let outcome = dispatcher.decide { scheduler, now, effects in
            scheduler.reload(
                wanted,
                slots: wanted.slots,
                replacing: replaced,
                keeping: plugins.inUse,
                now: now,
                &effects
            )
        }
        let added = takePlugins(outcome.change)
        // Adopt the findings before a run of these plugins can start.
        for plugin in added {
            registry.adopt(found[plugin.name] ?? .pending, for: plugin)
            if plugin.problem == nil {
                registry.holdToQuarantine(plugin, library: found[plugin.name]?.sha256 ?? "")
            }
        }
        for plugin in added where plugin.problem != nil { registry.reportProblem(of: plugin) }
        // The files were not watched between inspection and now, so check them.
        for plugin in added { registry.checkFiles(of: plugin) }
        registry.forgetFiles(of: outcome.change.removedPlugins)
        for name in outcome.change.removedPlugins { registry.parameters.forget(name) }
        dataDirectories.forget(outcome.change.removedPlugins)
        registry.crashes.forget(except: plugins.names, now: services.now)
        registry.alerts.apply(wanted)
        services.configuration.applyTraces?(wanted.host.traces)
        for plugin in plugins.all { registry.tellAlerts(of: plugin) }
        transfers.renewAccesses()
        facts.watch()
        dispatcher.dispatch()
        pool.prestart()
        return ReloadReport(
            outcome,
            from: (before, names),
            to: (wanted, dispatcher.scheduler.catalog),
            comparison,
            replaced: replaced
        )
    }

    /// Adds new plugins and retires the executors of removed or replaced ones.
    private func takePlugins(_ change: CatalogChange) -> [PluginSlot] {
        var codes: [String: PluginCode] = [:]
        for definition in manifest.value.plugins { codes[definition.name] = .plugin(definition) }
        for definition in manifest.value.functions {
            codes[definition.name] = .function(definition)
        }
        var memories: [String: HeldBytes] = [:]
        for index in change.retiredPlugins {
            let plugin = plugins[index]
            plugins.retire(plugin)
            memories[plugin.name] = plugin.memory
            for executor in plugin.executors.values {
                // A loading executor with waiting runs must still execute them; it finishes afterwards.
                if executor.state == .loading, !executor.isIdle { continue }
                pool.retire(executor)
            }
            plugin.releaseIfRetired()
        }
        for index in change.newPlugins {
            guard let code = codes[dispatcher.scheduler.catalog.plugins[index].name] else {
                continue
            }
            // The host and the scheduler use the same index of a plugin.
            registry.add(code, at: index)
            // Memory held for the finishing workers of the replaced version counts against the new one.
            if let memory = memories[code.name] { plugins[index].memory = memory }
            registry.postponeChecks(at: code.name)
        }
        plugins.release(change.unusedPlugins)
        return change.newPlugins.map { plugins[$0] }
    }
}
