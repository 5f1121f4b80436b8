// SPDX-License-Identifier: Apache-2.0

internal import BghostInspection
internal import BghostBase
internal import BghostConfiguration
internal import BghostLinux
internal import BghostModel
internal import BghostSandbox
internal import BghostServices
internal import BghostWire

extension WorkerPool {
    /// The sandbox of a plugin's workers, computed at the first use, and again when plugins may write other
    /// folders than before.
    func sandboxSpec(of plugin: PluginSlot) -> SandboxSpec {
        if let known = plugin.sandboxSpec, known.writable == manifest.writable { return known }
        let path = plugin.path ?? plugin.library
        var profile = SandboxProfile(
            plugin.permissions,
            limits: plugin.limits,
            library: path,
            needed: plugin.libraries.map(\.path),
            dataDirectory: plugin.dataDirectory,
            writable: manifest.writable,
            isFunction: plugin.isFunction,
            required: plugin.require.union(manifest.value.host.require),
            kernelCountsMemory: controlGroup?.controllers.contains("memory") ?? false
        )
        profile.wanted.formIntersection(configuration.sandbox)
        let sandboxSpec = SandboxSpec(
            profile,
            user: PluginUsers.number(plugin: plugin.index, stateDirectory: state.path)
        )
        plugin.sandboxSpec = sandboxSpec
        return sandboxSpec
    }

    /// Forgets the sandbox of a plugin whose files have changed.
    func forgetSandbox(of plugin: PluginSlot) { plugin.sandboxSpec = nil }

    /// Handles the sandbox report of a worker, which it sends before it runs any code of its plugin.
    func confined(_ worker: Worker, _ confined: Confined) {
        worker.isConfined = true
        let plugin = worker.plugin
        let layerStates = confined.layers.compactMap(LayerStanding.init)
        // With a limit of one process, the seccomp filter forbids the worker to start others.
        let held = layerStates.filter { $0.state == .holds }.map(\.layer)
        worker.canHaveProcesses = plugin.limits.processes > 1 || !held.contains(.seccomp)
        if held.contains(.network), held.contains(.capabilities), let pid = worker.process?.pid {
            sandboxSpec(of: plugin).shareNetwork(of: pid)
        }
        if worker.canHaveProcesses { workersWithTrees += 1 }
        for path in confined.absent where plugin.absentGrants.insert(path).inserted {
            log.write(
                .warning,
                "sandbox.absent",
                "\(PrintableText.escaped(path)) is granted and cannot be had: it is not there, or a link on its"
                    + " way lies where a plugin may write; its workers do without",
                plugin: plugin.name
            )
        }
        guard layerStates != plugin.layerStates else { return }
        plugin.layerStates = layerStates
        let missing = layerStates.filter { $0.state == .missing }
        guard !missing.isEmpty else { return }
        log.write(
            .warning,
            "sandbox.missing",
            "its workers run without "
                + missing.map { "\($0.layer.rawValue) (\($0.detail))" }.joined(separator: ", "),
            plugin: plugin.name
        )
    }
}
