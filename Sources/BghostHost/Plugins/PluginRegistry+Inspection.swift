// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostInspection
internal import BghostLinux
internal import BghostModel
internal import BghostServices

/// Inspection of plugin files, on a thread that may block on the disk.
///
/// The duration depends on the files, and the host's own thread must meet the deadlines of runs.
extension PluginRegistry {
    func inspection(
        of code: PluginCode,
        by manifest: Manifest,
        wantsDigest: Bool = false
    ) -> PluginInspection {
        PluginInspection(
            code: code,
            manifest: manifest,
            search: librarySearch,
            allowsUntrustedFiles: configuration.allowsUntrustedFiles,
            state: state,
            wantsDigest: wantsDigest,
            watch: libraryWatch
        )
    }

    /// Loads plugins in temporary workers.
    func probe(_ manifest: Manifest) -> PluginProbe {
        PluginProbe(
            manifest,
            workerPath: configuration.workerPath,
            pluginPath: configuration.pluginPath,
            manifestDirectory: configuration.manifestDirectory,
            allowsUntrustedFiles: configuration.allowsUntrustedFiles,
            dataFolder: state.dataFolder
        )
    }

    private func inspection(of plugin: PluginSlot) -> PluginInspection {
        inspection(
            of: plugin.code,
            by: manifest.value,
            wantsDigest: crashes.isQuarantined(plugin.name)
        )
    }

    var librarySearch: LibrarySearch {
        LibrarySearch(
            pluginPath: configuration.pluginPath,
            manifestDirectory: configuration.manifestDirectory
        )
    }

    /// Performs work on the inspection thread, one item after the other.
    ///
    /// - Returns: `nil` if no thread can be created.
    nonisolated(nonsending) func onInspectionThread<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async -> Value? {
        guard let thread = threads.thread(for: .inspection) else { return nil }
        return await withCheckedContinuation { continuation in
            thread.perform { continuation.resume(returning: work()) }
        }
    }

    /// Checks a plugin on the inspection thread and delays its next check in proportion.
    ///
    /// Checks of one plugin use at most a twentieth of one processor.
    nonisolated(nonsending) func onInspectionThread<Value: Sendable>(
        for plugin: PluginSlot,
        _ work: @escaping @Sendable () -> Value
    ) async -> Value? {
        let answer = await onInspectionThread { Measured(work) }
        guard let answer else { return nil }
        let pause = answer.took.multipliedClamped(by: InspectionBudget.share)
        plugin.checksFrom = max(plugin.checksFrom, now + pause)
        return answer.value
    }

    /// Subtracts an inspection from the plugin's budget, which delays the next automatic inspection.
    private func countInspection(_ name: String, _ inspection: Measured<some Sendable>) {
        inspectionBudgets[name, default: InspectionBudget()].spend(
            took: inspection.took,
            processorTime: inspection.processorTime,
            now: now,
            least: timeouts.inspect
        )
        postponeChecks(at: name)
        guard log.keeps(.debug) else { return }
        log.write(
            .debug,
            "plugin.inspected",
            "an inspection of its files took \(DurationText.of(nanoseconds: inspection.took)), and"
                + " \(DurationText.of(nanoseconds: inspection.processorTime)) of a processor",
            plugin: name
        )
    }

    /// Subtracts a trial load from the plugin's budget; it belongs to the last inspection.
    func countTrialLoad(_ name: String, took: UInt64) {
        inspectionBudgets[name, default: InspectionBudget()].rest(took: took, now: now)
        postponeChecks(at: name)
    }

    func postponeChecks(at name: String) {
        guard let plugin = plugins[name], let budget = inspectionBudgets[name] else { return }
        plugin.checksFrom = max(plugin.checksFrom, budget.next)
    }

    /// The budget that records the inspections of a plugin since the start of the daemon.
    func inspectionBudget(ofPlugin name: String) -> InspectionBudget {
        inspectionBudgets[name] ?? InspectionBudget()
    }

    /// Inspects a plugin's files.
    nonisolated(nonsending) func findings(of plugin: PluginSlot) async -> PluginFindings {
        await findings(inspection(of: plugin))
    }

    /// - Parameter isCounted: whether the time that it takes delays later inspections.
    nonisolated(nonsending) func findings(
        _ inspection: PluginInspection,
        isCounted: Bool = true
    ) async -> PluginFindings {
        let found = await onInspectionThread { Measured { inspection.findings() } }
        if let found, isCounted { countInspection(inspection.code.name, found) }
        return found?.value
            ?? PluginFindings(
                problem: PluginFindings.Problem(
                    message: "its library cannot be looked at: no thread can be made for that",
                    isAboutPlace: true
                )
            )
    }

    // MARK: Repeated inspection

    /// Inspects an unusable plugin again if its files have changed, and returns afterwards.
    ///
    /// Call it only for an operator's action, not for a query.
    nonisolated(nonsending) func revalidate(_ plugin: PluginSlot) async {
        guard let problem = plugin.problem, !problem.isPause else { return }
        guard !problem.isRefusal else { return await reloader.adoptChangedFiles(of: plugin.name) }
        await inspectAgain(plugin, unless: problem.files)
    }

    /// Inspects an unusable plugin again.
    ///
    /// - Parameter known: skips the inspection if the files equal this snapshot.
    nonisolated(nonsending) func inspectAgain(
        _ plugin: PluginSlot,
        unless known: FileSnapshot?
    ) async {
        guard !plugin.isRetired else { return }
        let inspection = inspection(of: plugin)
        let answer = await onInspectionThread { Measured { inspection.findings(unless: known) } }
        if let answer { countInspection(plugin.name, answer) }
        // In the meantime, the problem may be solved, the plugin replaced by a reload, or crashed again.
        guard let answer, let found = answer.value, !plugin.isRetired, !isDraining,
            let problem = plugin.problem, !problem.isPause,
            inspection.wantsDigest || !crashes.isQuarantined(plugin.name)
        else { return }
        record(found, for: plugin)
    }

    /// Starts `inspectAgain` without waiting for it.
    func beginInspection(of plugin: PluginSlot, unless known: FileSnapshot?) {
        guard !plugin.isBeingChecked else { return scheduleCheck(at: plugin) }
        plugin.isBeingChecked = true
        let index = plugin.index
        reference.performAsync { await $0.inspectAgain(index, known) }
    }

    private nonisolated(nonsending) func inspectAgain(
        _ index: Int,
        _ known: FileSnapshot?
    ) async {
        let plugin = plugins[index]
        await inspectAgain(plugin, unless: known)
        plugin.isBeingChecked = false
        if plugin.problem != nil { scheduleCheck(at: plugin) }
    }

    private func record(_ found: PluginFindings, for plugin: PluginSlot) {
        guard !isStillQuarantined(plugin, library: found.sha256) else {
            plugin.problem?.files = found.files
            return
        }
        // The loaded workers and the recorded failures belong to other files.
        if found.files != plugin.files {
            for executor in Array(plugin.executors.values) where executor.isProcess {
                retireLive(executor)
            }
            crashes.forgetLoadFailures(plugin.name)
        }
        plugin.checkPause = 0
        adopt(found, for: plugin)
        reportProblem(of: plugin)
        pool.prestart(plugin)
    }

    func retireLive(_ executor: any RunExecutor) {
        guard executor.state == .live else { return }
        pool.retire(executor)
    }

    /// Adopts changed files of a function; new workers load them anyway.
    nonisolated(nonsending) func refresh(function index: Int) async {
        let plugin = plugins[index]
        let found = await findings(of: plugin)
        plugin.isBeingChecked = false
        guard !plugin.isRetired, !isDraining else { return }
        for executor in Array(plugin.executors.values) { retireLive(executor) }
        adopt(found, for: plugin)
        reportProblem(of: plugin)
    }
}
