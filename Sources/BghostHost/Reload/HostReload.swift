// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostWire

/// Another manifest, taken up while runs are under way.
///
/// It is read, checked and its plugins are loaded in throwaway workers, all away from this thread and
/// without any effect; then it is swapped in one step, between two events.
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
        let replaced = replacedPlugins(wanted)
        try await probe(wanted, replaced)
        // While they were loaded the host may have been told to stop.
        guard !isDraining else {
            throw OperatorRefusal(.unavailable, "bghost is stopping and takes up no other manifest")
        }
        return swap(wanted, replaced)
    }

    /// Does what may block on a thread of its own.
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
        for carrier in carriers.values
        where carrier is InProcessCarrier && carrier.lanes.count < min(slots, Int(Lane.max)) {
            changes.append(
                "`host.slots` would be \(slots), and `\(carrier.plugin.name)` was loaded into the daemon"
                    + " for \(carrier.lanes.count)"
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

    /// Plugins that say what they said, but whose file, or whose signer's key, is another one.
    private func replacedPlugins(_ wanted: Manifest) -> [String] {
        wanted.plugins.compactMap { definition in
            if let signer = definition.signedBy,
                wanted.signers.first(where: { $0.name == signer })
                    != manifest.signers.first(where: { $0.name == signer }),
                pluginsByName[definition.name]?.code.isSame(as: .plugin(definition)) == true
            {
                return definition.name
            }
            guard definition.isolation == .worker, let plugin = pluginsByName[definition.name],
                plugin.code.isSame(as: .plugin(definition)), let file = plugin.file,
                let path = try? librarySearch.find(definition.library),
                let current = fileIdentity(path), current != file
            else { return nil }
            return definition.name
        }
    }

    /// Loads what is new in throwaway workers, with the handlers that tasks want of it.
    private func probe(_ wanted: Manifest, _ replaced: [String]) async throws(OperatorRefusal) {
        let probe = PluginProbe(
            wanted,
            workerPath: configuration.workerPath,
            pluginPath: configuration.pluginPath,
            manifestDirectory: configuration.manifestDirectory,
            isLax: configuration.isLax
        )
        var problems: [String] = []
        for definition in wanted.plugins {
            let handlers = wanted.handlers(of: definition.name)
            let known = pluginsByName[definition.name]
            if let known, known.code.isSame(as: .plugin(definition)),
                !replaced.contains(definition.name),
                handlers.isSubset(of: manifest.handlers(of: definition.name))
            {
                continue
            }
            let result = await probe.look(at: definition, handlers: handlers.sorted())
            if case .failure(let failure) = result {
                problems.append(Self.problem(definition.name, definition.origin, failure))
            }
        }
        for definition in wanted.functions {
            if pluginsByName[definition.name]?.code.isSame(as: .function(definition)) == true {
                continue
            }
            if case .failure(let failure) = await probe.look(at: definition) {
                problems.append(Self.problem(definition.name, definition.origin, failure))
            }
        }
        guard problems.isEmpty else {
            throw .badPlugins(problems, path: configuration.manifestPath)
        }
    }

    private static func problem(
        _ name: String,
        _ origin: SourceLocation,
        _ failure: ProbeFailure
    ) -> String {
        let place = origin.line > 0 ? "\(origin.file):\(origin.line):\(origin.column): " : ""
        return "\(place)`\(name)`: \(failure.message)"
    }

    // MARK: The swap

    /// All in one step: whoever comes next sees the new manifest and nothing of the old one but runs
    /// that are under way.
    private func swap(_ wanted: Manifest, _ replaced: [String]) -> ReloadReport {
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
        // Before anything that may begin a run of them.
        for plugin in added {
            inspect(plugin)
            if plugin.problem == nil { holdToQuarantine(plugin) }
        }
        for plugin in added where plugin.problem != nil { tellProblem(of: plugin) }
        renewTransferAccesses()
        restartFacts(before.host.facts)
        dispatch()
        prestart()
        return report(outcome, before)
    }

    /// Makes the plugins that are new, and has the workers of those that went finish what they have.
    private func takePlugins(_ change: CatalogChange) -> [PluginSlot] {
        var codes: [String: PluginSlot.Code] = [:]
        for definition in manifest.plugins { codes[definition.name] = .plugin(definition) }
        for definition in manifest.functions { codes[definition.name] = .function(definition) }
        for index in change.retiredPlugins {
            let plugin = plugins[index]
            plugin.isRetired = true
            pluginsByName[plugin.name] = nil
            for carrier in plugin.carriers.values {
                // One that has runs and is not loaded yet takes those, and ends when it has none.
                if carrier.state == .loading, !carrier.isIdle { continue }
                retire(carrier)
            }
            plugin.letGoIfRetired()
        }
        for index in change.newPlugins {
            // The scheduler's numbers are the host's.
            precondition(index == plugins.count, "a plugin has another number")
            guard let code = codes[scheduler.catalog.plugins[index].name] else { continue }
            add(code)
        }
        return change.newPlugins.map { plugins[$0] }
    }

    private func report(_ outcome: ReloadOutcome, _ before: Manifest) -> ReloadReport {
        let change = outcome.change
        let catalog = scheduler.catalog
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

extension Manifest {
    /// The handlers that tasks want of a plugin.
    fileprivate func handlers(of plugin: String) -> Set<String> {
        Set(
            tasks.compactMap { task in
                guard case .plugin(plugin, let handler) = task.handler else { return nil }
                return handler
            }
        )
    }
}
