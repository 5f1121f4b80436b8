// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostInspection
internal import BghostLinux
internal import BghostModel
internal import BghostServices

/// Detection of changed plugin files.
///
/// The host uses events of their folders, and sweeps for what causes none. Where it may miss events, or the
/// plugin cannot be used, it also checks the files at growing intervals. A file may be incomplete at the time of a check,
/// so a changed state counts only if two checks, one settling time apart, find the same.
extension PluginRegistry {
    /// The reactor's token for the events of watched folders.
    static let libraryToken: UInt64 = 3 << 48

    func watchLibraries() {
        do throws(SystemError) {
            let watch = try FileWatch()
            try reactor.watch(watch.descriptor, for: .input, token: Self.libraryToken)
            libraryWatch = watch
        } catch {
            log.write(
                .warning,
                "plugin.unwatched",
                "changed libraries are found by looking at them from time to time: \(error.description)"
            )
        }
    }

    /// Handles events in the folders of plugin files.
    func librariesTouched() {
        guard let libraryWatch else { return }
        let changes = libraryWatch.changes()
        filesTouched(of: changes.owners)
        guard changes.needsSweep else { return }
        libraryWatch.sweep(on: threads.thread(for: .inspection)) { [reference] found in
            reference.perform { $0.filesTouched(of: found) }
        }
    }

    private func filesTouched(of names: Set<String>) {
        for name in names {
            guard let plugin = plugins[name] else { continue }
            plugin.checkPause = 0
            // Do not postpone a check that is due soon: the next check waits for settling in any case.
            guard plugin.checkAt > now + timeouts.settle else { continue }
            arm(check: now + timeouts.settle, at: plugin)
        }
    }

    // MARK: Checks

    /// Arms the next check of a plugin's files; the interval doubles up to a maximum.
    func scheduleCheck(at plugin: PluginSlot) {
        guard !plugin.isRetired, plugin.checkAt == .never else { return }
        plugin.checkPause = max(timeouts.look, min(plugin.checkPause * 2, HostLimits.lookPauseMax))
        arm(check: now + plugin.checkPause, at: plugin)
    }

    private func arm(check time: MonotonicInstant, at plugin: PluginSlot) {
        plugin.checkAt = max(time, plugin.checksFrom)
        deadlines.arm(.plugin(plugin.index), at: plugin.checkAt)
    }

    /// Starts a check whether a plugin's files have changed.
    func checkFiles(of plugin: PluginSlot) {
        guard !plugin.isRetired, !isDraining else { return }
        guard !plugin.isBeingChecked else { return arm(check: now + timeouts.settle, at: plugin) }
        plugin.isBeingChecked = true
        let index = plugin.index
        reference.performAsync { await $0.checkFiles(ofPlugin: index) }
    }

    private nonisolated(nonsending) func checkFiles(ofPlugin index: Int) async {
        let plugin = plugins[index]
        let inspection = inspection(of: plugin.code, by: manifest.value)
        let needed = (plugin.problem?.files ?? plugin.files).needed.keys
        let look = await onInspectionThread(for: plugin) {
            inspection.watchedSnapshot(needed: needed)
        }
        plugin.isBeingChecked = false
        guard !plugin.isRetired, !isDraining else { return }
        guard let (found, isWatched) = look else { return scheduleCheck(at: plugin) }
        plugin.isWatched = isWatched
        if let problem = plugin.problem, !problem.needsTrial {
            filesChecked(of: plugin, found, problem)
        } else {
            filesChecked(of: plugin, found)
            if !plugin.isWatched || plugin.problem != nil { scheduleCheck(at: plugin) }
        }
    }

    /// Handles the check of an unusable plugin: changed files may solve its problem.
    private func filesChecked(
        of plugin: PluginSlot,
        _ found: FileSnapshot,
        _ problem: PluginProblem
    ) {
        let isNew = problem.files.map { $0 != found } ?? (found.library != nil || plugin.isFunction)
        guard isNew else {
            plugin.candidate = nil
            return scheduleCheck(at: plugin)
        }
        guard found == plugin.candidate else {
            plugin.candidate = found
            return arm(check: now + timeouts.settle, at: plugin)
        }
        plugin.candidate = nil
        beginInspection(of: plugin, unless: nil)
    }

    /// Handles the check of a plugin that was usable with its known files.
    private func filesChecked(of plugin: PluginSlot, _ found: FileSnapshot) {
        guard found != plugin.files else {
            plugin.candidate = nil
            plugin.change = nil
            return forgetRefusal(of: plugin)
        }
        guard found == plugin.candidate else {
            plugin.candidate = found
            return arm(check: now + timeouts.settle, at: plugin)
        }
        changed(plugin, found)
    }

    // MARK: Changes

    private func changed(_ plugin: PluginSlot, _ found: FileSnapshot) {
        guard case .plugin(let definition) = plugin.code else {
            plugin.candidate = nil
            plugin.isBeingChecked = true
            let index = plugin.index
            reference.performAsync { await $0.refresh(function: index) }
            return
        }
        let library = plugin.path ?? definition.library
        guard found.library != nil else {
            return removed(plugin, library)
        }
        let what = found.library == plugin.files.library ? "a library that it needs" : library
        guard plugin.isolation == .worker else {
            return note(plugin, "\(what) is another file now; restart bghost to take it up")
        }
        guard definition.onChange == .reload else {
            return note(
                plugin,
                "\(what) is another file now; the one before goes on until `bghost reload`"
            )
        }
        let name = plugin.name
        reference.performAsync { await $0.reloader.adoptChangedFiles(of: name) }
    }

    /// Handles files in the place of the loaded ones that cannot be adopted; they are tried again later.
    ///
    /// The reason may lie outside the files: their folders, a library that is missing, a shortage.
    func refuse(_ plugin: PluginSlot, _ reason: String) {
        let what = "its library was replaced and cannot be taken up"
        plugin.refused = "\(what): \(reason)"
        if plugin.held == nil {
            holdBack(plugin)
        } else {
            note(plugin, "\(what), so what is loaded goes on: \(reason)")
        }
        scheduleCheck(at: plugin)
    }

    /// Makes the requests of a plugin wait if a new worker would load refused files; running runs continue.
    ///
    /// - Returns: whether it would.
    @discardableResult
    func holdBack(_ plugin: PluginSlot) -> Bool {
        guard let refused = plugin.refused, plugin.held == nil else { return false }
        // At the end of a pause it is called again. A quarantine is more serious.
        if let problem = plugin.problem, !problem.isRefusal, !problem.isLoadFailure { return true }
        guard plugin.problem?.message != refused else { return true }
        plugin.problem = PluginProblem(message: refused, files: nil, isRefusal: true)
        log.write(.error, "plugin.unusable", refused, plugin: plugin.name)
        reportProblem(of: plugin)
        return true
    }

    /// The files that are loaded are in their place again.
    private func forgetRefusal(of plugin: PluginSlot) {
        plugin.refused = nil
        guard plugin.problem?.isRefusal == true else { return }
        plugin.problem = nil
        // One that was started before the refusal may have loaded the other files.
        for executor in Array(plugin.executors.values) where executor.isProcess {
            retireLive(executor)
        }
        reportProblem(of: plugin)
        pool.prestart(plugin)
    }

    private func removed(_ plugin: PluginSlot, _ library: String) {
        let message = "\(library) is not there any more"
        guard plugin.held == nil, plugin.isolation == .worker else {
            return note(plugin, message + "; what is loaded goes on")
        }
        plugin.candidate = nil
        // A new worker would fail to load it, so requests wait; running runs continue.
        plugin.problem = PluginProblem(message: message + ". Put it back", files: nil)
        log.write(.error, "plugin.unusable", message, plugin: plugin.name)
        reportProblem(of: plugin)
    }

    /// Stops watching the files of plugins that are no longer in the manifest.
    func forgetFiles(of plugins: [String]) {
        guard let libraryWatch, let thread = threads.existingThread(for: .inspection) else {
            return
        }
        thread.perform {
            for name in plugins { libraryWatch.watch([], for: name) }
        }
    }

    func note(_ plugin: PluginSlot, _ change: String) {
        guard plugin.change != change else { return }
        plugin.change = change
        log.write(.warning, "plugin.changed", change, plugin: plugin.name)
    }
}
