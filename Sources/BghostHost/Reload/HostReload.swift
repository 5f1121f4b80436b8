// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostWire

/// Reload of the manifest while runs are running.
///
/// The host reads and checks the new manifest and loads its plugins in temporary workers, on other
/// threads and without side effects. Then it replaces the manifest in one step between two events.
extension Host {
    package func reload() async throws(OperatorRefusal) -> ReloadReport {
        do throws(OperatorRefusal) {
            let report = try await reloadOnce()
            log.write(.info, "manifest.reloaded", report.summary)
            return report
        } catch {
            let details = error.candidates.map { "\n  \($0)" }.joined()
            log.write(.error, "manifest.refused", error.message + details)
            throw error
        }
    }

    private func reloadOnce() async throws(OperatorRefusal) -> ReloadReport {
        guard let reread = configuration.rereadManifest else {
            throw OperatorRefusal(.unavailable, "this bghost has no file to read its manifest from")
        }
        while isTakingUp {
            await withCheckedContinuation { reloadTurns.append($0) }
        }
        guard !isReloading else {
            throw OperatorRefusal(
                .unavailable,
                "another reload is under way",
                fix: "try again once it has ended"
            )
        }
        isReloading = true
        defer { isReloading = false }
        let path = configuration.manifestPath
        let reading = await Self.apart { reread() }
        if let doubt = reading.doubt { throw .untrusted(path, doubt) }
        guard let wanted = reading.manifest else {
            throw .badManifest(reading.diagnostics, path: path)
        }
        try check(wanted)
        let replaced = await replacedPlugins(wanted)
        let found = try await probe(wanted, replaced)
        // A shutdown may have been requested during the probes.
        guard !isDraining else {
            throw OperatorRefusal(.unavailable, "bghost is stopping and takes up no other manifest")
        }
        return swap(wanted, replaced, found)
    }

    /// Performs blocking work on a dedicated thread.
    private static func apart<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            let thread = WorkThread()
            thread.perform { continuation.resume(returning: body()) }
            thread.end()
        }
    }

    private func check(_ wanted: Manifest) throws(OperatorRefusal) {
        var changes = RestartCheck.changes(from: manifest, to: wanted)
        let slots = Self.slots(wanted)
        for executor in executors.values
        where executor is InProcessExecutor && executor.lanes.count < min(slots, Int(Lane.max)) {
            changes.append(
                "`host.slots` would be \(slots), and `\(executor.plugin.name)` was loaded into the daemon"
                    + " for \(executor.lanes.count)"
            )
        }
        let unheld =
            wanted.plugins.first { isUnheld($0.limits, $0.isolation) }?.name
            ?? wanted.functions.first { isUnheld($0.limits, .worker) }?.name
        if let unheld, !configuration.isLax {
            throw OperatorRefusal(.unavailable, "`\(unheld)`: \(Self.unheld)")
        }
        guard changes.isEmpty else {
            throw .needsRestart(changes, path: configuration.manifestPath)
        }
    }

    // MARK: Plugins

    /// Plugins with an unchanged definition whose files or signer's key have changed.
    private func replacedPlugins(_ wanted: Manifest) async -> [String] {
        var replaced: [String] = []
        var looks: [(name: String, known: FileSnapshot, inspection: PluginInspection)] = []
        for definition in wanted.plugins {
            guard let plugin = pluginsByName[definition.name],
                plugin.code.isSame(as: .plugin(definition))
            else { continue }
            if let signer = definition.signedBy,
                wanted.signers.first(where: { $0.name == signer })
                    != manifest.signers.first(where: { $0.name == signer })
            {
                replaced.append(definition.name)
            } else if definition.isolation == .worker, plugin.files.library != nil {
                looks.append(
                    (definition.name, plugin.files, inspection(of: plugin.code, by: wanted))
                )
            }
        }
        let changed = await onInspectionThread { [looks] in
            looks.compactMap { look -> String? in
                let current = look.inspection.snapshot(needed: look.known.needed.keys)
                return current.library == nil || current == look.known ? nil : look.name
            }
        }
        return replaced + (changed ?? [])
    }

    /// Inspects new or changed plugins and loads them in temporary workers.
    ///
    /// The loaded plugins must have the handlers that tasks use.
    ///
    /// - Parameter only: the name of the only plugin to probe; `nil` for all.
    private func probe(
        _ wanted: Manifest,
        _ replaced: [String],
        only: String? = nil
    ) async throws(OperatorRefusal) -> [String: PluginFindings] {
        let probe = PluginProbe(
            wanted,
            workerPath: configuration.workerPath,
            pluginPath: configuration.pluginPath,
            manifestDirectory: configuration.manifestDirectory,
            isLax: configuration.isLax
        )
        var all: [(inspection: PluginInspection, found: PluginFindings)] = []
        var problems: [String] = []
        for definition in wanted.plugins where only ?? definition.name == definition.name {
            let handlers = wanted.handlers(of: definition.name)
            let known = pluginsByName[definition.name]
            if let known, known.code.isSame(as: .plugin(definition)),
                !replaced.contains(definition.name),
                handlers.isSubset(of: manifest.handlers(of: definition.name))
            {
                continue
            }
            let inspection = quietInspection(.plugin(definition), by: wanted)
            let found = await findings(inspection)
            all.append((inspection, found))
            let begin = Monotonic.now
            let result = await probe.look(at: definition, handlers: handlers.sorted(), found)
            chargeTrial(definition.name, took: Monotonic.now &- begin)
            if case .failure(let failure) = result {
                problems.append(Self.problem(definition.name, definition.origin, failure))
            }
        }
        for definition in wanted.functions where only == nil {
            if pluginsByName[definition.name]?.code.isSame(as: .function(definition)) == true {
                continue
            }
            let inspection = quietInspection(.function(definition), by: wanted)
            let found = await findings(inspection)
            all.append((inspection, found))
            if case .failure(let failure) = await probe.look(at: definition, found) {
                problems.append(Self.problem(definition.name, definition.origin, failure))
            }
        }
        guard problems.isEmpty else {
            throw .badPlugins(problems, path: configuration.manifestPath)
        }
        return await takenUp(all)
    }

    /// An inspection without side effects, because the manifest may be refused.
    private func quietInspection(_ code: PluginSlot.Code, by wanted: Manifest) -> PluginInspection {
        var inspection = inspection(
            of: code,
            by: wanted,
            wantsDigest: crashes.hasQuarantine(code.name)
        )
        inspection.state = nil
        inspection.watch = nil
        return inspection
    }

    /// Creates the data directories of accepted plugins and watches their files.
    private func takenUp(
        _ all: [(inspection: PluginInspection, found: PluginFindings)]
    ) async -> [String: PluginFindings] {
        let made = await onInspectionThread { [state, libraryWatch] in
            var taken: [String: PluginFindings] = [:]
            for var (inspection, found) in all {
                inspection.watch = libraryWatch
                inspection.watchFiles(&found)
                do throws(HostError) {
                    found.dataDirectory = try state.dataDirectory(of: inspection.code.name)
                } catch {
                    found.problem = PluginFindings.Problem(
                        message: error.description,
                        isAboutPlace: true
                    )
                }
                taken[inspection.code.name] = found
            }
            return taken
        }
        return made ?? [:]
    }

    private static func problem(
        _ name: String,
        _ origin: SourceLocation,
        _ failure: ProbeFailure
    ) -> String {
        let place = origin.line > 0 ? "\(origin.file):\(origin.line):\(origin.column): " : ""
        return "\(place)`\(name)`: \(failure.message)"
    }

    /// Adopts changed files of one plugin, as a reload of the same manifest would.
    ///
    /// - Parameter seen: the state of the changed files.
    func takeUp(_ name: String, _ seen: FileSnapshot) async {
        guard !isDraining, let plugin = pluginsByName[name] else { return }
        guard !isReloading else { return scheduleLook(at: plugin) }
        isReloading = true
        isTakingUp = true
        defer {
            isReloading = false
            isTakingUp = false
            let turns = reloadTurns
            reloadTurns = []
            for turn in turns { turn.resume() }
        }
        let same = manifest
        do throws(OperatorRefusal) {
            let found = try await probe(same, [name], only: name)
            guard !isDraining else { return }
            _ = swap(same, [name], found)
            log.write(
                .info,
                "plugin.replaced",
                "its library was replaced and taken up",
                plugin: name
            )
        } catch {
            plugin.refused = seen
            note(
                plugin,
                "its library was replaced and cannot be taken up, so what is loaded goes on: "
                    + (error.candidates.first ?? error.message)
            )
        }
    }

    // MARK: The swap

    /// Replaces the manifest in one step.
    ///
    /// Afterwards only running runs use the old manifest.
    private func swap(
        _ wanted: Manifest,
        _ replaced: [String],
        _ found: [String: PluginFindings]
    ) -> ReloadReport {
        let before = manifest
        manifest = wanted
        let outcome = decide { scheduler, now, effects in
            scheduler.reload(
                wanted,
                slots: Self.slots(wanted),
                replacing: replaced,
                now: now,
                &effects
            )
        }
        let added = takePlugins(outcome.change)
        // Adopt the findings before a run of these plugins can start.
        for plugin in added {
            adopt(found[plugin.name] ?? .pending, for: plugin)
            if plugin.problem == nil {
                holdToQuarantine(plugin, library: found[plugin.name]?.sha256 ?? "")
            }
        }
        for plugin in added where plugin.problem != nil { tellProblem(of: plugin) }
        // The files were not watched between inspection and now, so check them.
        for plugin in added { look(at: plugin) }
        forgetFiles(of: outcome.change.removedPlugins)
        dataDirectories.forget(outcome.change.removedPlugins)
        renewTransferAccesses()
        watchFacts()
        dispatch()
        prestart()
        return report(outcome, before)
    }

    /// Adds new plugins and retires the executors of removed or replaced ones.
    private func takePlugins(_ change: CatalogChange) -> [PluginSlot] {
        var codes: [String: PluginSlot.Code] = [:]
        for definition in manifest.plugins { codes[definition.name] = .plugin(definition) }
        for definition in manifest.functions { codes[definition.name] = .function(definition) }
        var memories: [String: HeldBytes] = [:]
        for index in change.retiredPlugins {
            let plugin = plugins[index]
            plugin.isRetired = true
            memories[plugin.name] = plugin.memory
            pluginsByName[plugin.name] = nil
            for executor in plugin.executors.values {
                // A loading executor with waiting runs must still execute them; it finishes afterwards.
                if executor.state == .loading, !executor.isIdle { continue }
                retire(executor)
            }
            plugin.letGoIfRetired()
        }
        for index in change.newPlugins {
            // The host and the scheduler use the same index of a plugin.
            precondition(index == plugins.count, "a plugin has another number")
            guard let code = codes[dispatcher.scheduler.catalog.plugins[index].name] else {
                continue
            }
            add(code)
            // Memory held for the finishing workers of the replaced version counts against the new one.
            if let memory = memories[code.name] { plugins[index].memory = memory }
            putOffLooks(at: code.name)
        }
        return change.newPlugins.map { plugins[$0] }
    }

    private func report(_ outcome: ReloadOutcome, _ before: Manifest) -> ReloadReport {
        let change = outcome.change
        let catalog = dispatcher.scheduler.catalog
        func name(_ task: Int) -> String { catalog.tasks[task].identifier.description }
        let retired = Set(change.retiredPlugins.map { plugins[$0].name })
        let brought = change.newPlugins.map { plugins[$0].name }
        let same: [(key: String, isSame: Bool)] = [
            ("slots", before.host.slots == manifest.host.slots),
            ("timeZone", before.host.timeZone == manifest.host.timeZone),
            ("facts", before.host.facts == manifest.host.facts),
        ]
        return ReloadReport(
            tasks: ReloadReport.Names(
                added: change.newTasks.filter { change.formerTasks[$0] == nil }.map(name),
                changed: change.newTasks.filter { change.formerTasks[$0] != nil }.map(name),
                removed: change.removedTasks
            ),
            plugins: ReloadReport.Names(
                added: brought.filter { !retired.contains($0) },
                changed: brought.filter { retired.contains($0) },
                removed: change.removedPlugins
            ),
            host: same.filter { !$0.isSame }.map(\.key),
            parked: outcome.parked,
            unparked: outcome.unparked
        )
    }
}

extension PluginFindings {
    /// The findings for a plugin that was not inspected.
    fileprivate static let pending = PluginFindings(
        problem: Problem(message: "its library has not been looked at yet", isAboutPlace: true)
    )
}

extension Manifest {
    /// The handlers of a plugin that tasks use.
    fileprivate func handlers(of plugin: String) -> Set<String> {
        Set(
            tasks.compactMap { task in
                guard case .plugin(plugin, let handler) = task.handler else { return nil }
                return handler
            }
        )
    }
}
