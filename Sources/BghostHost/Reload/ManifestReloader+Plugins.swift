// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostInspection
internal import BghostLinux
internal import BghostModel
internal import BghostServices

/// Inspection of the plugins of a new manifest.
extension ManifestReloader {
    /// Plugins with an unchanged definition whose files or signer's key have changed.
    nonisolated(nonsending) func replacedPlugins(_ wanted: Manifest) async -> [String] {
        let manifest = manifest.value
        var replaced: [String] = []
        var looks: [(name: String, known: FileSnapshot, inspection: PluginInspection)] = []
        for definition in wanted.plugins {
            guard let plugin = plugins[definition.name],
                plugin.code.isSame(as: .plugin(definition))
            else { continue }
            if let signer = definition.signedBy,
                wanted.signers.first(where: { $0.name == signer })
                    != manifest.signers.first(where: { $0.name == signer })
            {
                replaced.append(definition.name)
            } else if definition.isolation == .worker, plugin.files.library != nil {
                looks.append(
                    (
                        definition.name, plugin.files,
                        registry.inspection(of: plugin.code, by: wanted)
                    )
                )
            }
        }
        let changed = await registry.onInspectionThread { [looks] in
            looks.compactMap { look -> String? in
                let current = look.inspection.snapshot(needed: look.known.needed.keys)
                return current.library == nil || current == look.known ? nil : look.name
            }
        }
        return replaced + (changed ?? [])
    }

    /// What the probe of a plugin has found.
    typealias Probed = (inspection: PluginInspection, found: PluginFindings)

    /// Inspects new or changed plugins and loads them in temporary workers.
    ///
    /// The loaded plugins must have the handlers that tasks use.
    ///
    /// - Parameters:
    ///   - only: the name of the only plugin to probe; `nil` for all.
    ///   - isDryRun: whether to leave out the counters, because these delay later inspections.
    nonisolated(nonsending) func probe(
        _ wanted: Manifest,
        _ replaced: [String],
        only: String? = nil,
        isDryRun: Bool = false
    ) async throws(OperatorRefusal) -> [Probed] {
        let probe = registry.probe(wanted)
        let (tasks, formerTasks) = (PluginTasks(wanted), PluginTasks(manifest.value))
        var all: [Probed] = []
        var problems: [String] = []
        for definition in wanted.plugins where only ?? definition.name == definition.name {
            let own = tasks[definition.name]
            tasksVisited += own.count
            let handlers = PluginTasks.handlers(own)
            let known = plugins[definition.name]
            if let known, known.code.isSame(as: .plugin(definition)),
                !replaced.contains(definition.name),
                handlers.isSubset(of: PluginTasks.handlers(formerTasks[definition.name]))
            {
                let schemas = registry.parameters.known(definition.name)
                problems +=
                    schemas.flatMap {
                        TaskParameters(own).problem(of: definition.name, $0)
                    }.map { [$0] } ?? []
                continue
            }
            let inspection = quietInspection(.plugin(definition), by: wanted)
            let found = await registry.findings(inspection, isCounted: !isDryRun)
            all.append((inspection, found))
            let begin = Monotonic.now
            let result = await probe.check(definition, handlers: handlers.sorted(), found)
            if !isDryRun {
                registry.countTrialLoad(definition.name, took: Monotonic.now.since(begin))
            }
            switch result {
            case .success(let trial): all[all.count - 1].found.schemas = trial.schemas
            case .failure(let failure):
                problems.append(Self.problem(definition.name, definition.origin, failure))
            }
        }
        for definition in wanted.functions where only == nil {
            if plugins[definition.name]?.code.isSame(as: .function(definition)) == true {
                continue
            }
            let inspection = quietInspection(.function(definition), by: wanted)
            let found = await registry.findings(inspection, isCounted: !isDryRun)
            all.append((inspection, found))
            if case .failure(let failure) = await probe.check(definition, found) {
                problems.append(Self.problem(definition.name, definition.origin, failure))
            }
        }
        guard problems.isEmpty else {
            throw .badPlugins(problems, path: configuration.manifestPath)
        }
        return all
    }

    /// An inspection without side effects, because the manifest may be refused.
    private func quietInspection(_ code: PluginCode, by wanted: Manifest) -> PluginInspection {
        var inspection = registry.inspection(
            of: code,
            by: wanted,
            wantsDigest: registry.crashes.hasQuarantine(code.name)
        )
        inspection.state = nil
        inspection.watch = nil
        return inspection
    }

    /// Creates the data directories of accepted plugins and watches their files.
    nonisolated(nonsending) func adopted(_ all: [Probed]) async -> [String: PluginFindings] {
        let made = await registry.onInspectionThread {
            [state = services.state, libraryWatch = registry.libraryWatch] in
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
}

/// The tasks of a manifest by their plugin, so that a look at each plugin does not walk all tasks.
private struct PluginTasks {
    private let tasks: [TaskDefinition]
    private var indices: [String: [Int]] = [:]

    init(_ manifest: Manifest) {
        tasks = manifest.tasks
        for (index, task) in tasks.enumerated() {
            guard case .plugin(let plugin, _) = task.handler else { continue }
            indices[plugin, default: []].append(index)
        }
    }

    /// The tasks of a plugin, in the order of the manifest.
    subscript(plugin: String) -> [TaskDefinition] { (indices[plugin] ?? []).map { tasks[$0] } }

    /// The handlers that tasks use.
    static func handlers(_ tasks: [TaskDefinition]) -> Set<String> {
        Set(
            tasks.compactMap { task in
                guard case .plugin(_, let handler) = task.handler else { return nil }
                return handler
            }
        )
    }
}

extension PluginFindings {
    /// The findings for a plugin that was not inspected.
    static let pending = PluginFindings(
        problem: Problem(message: "its library has not been looked at yet", isAboutPlace: true)
    )
}
