// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostPlugin
internal import Glibc

/// Plugins and tasks as the manifest defines them.
extension Host {
    func definePlugins() {
        for definition in configuration.manifest.plugins { add(.plugin(definition)) }
        for definition in configuration.manifest.functions { add(.function(definition)) }
        for plugin in plugins { inspect(plugin) }
    }

    private func add(_ code: PluginSlot.Code) {
        let slot = PluginSlot(index: plugins.count, code: code)
        plugins.append(slot)
        pluginsByName[slot.name] = slot
    }

    func defineTasks() {
        for (index, task) in configuration.manifest.tasks.enumerated() {
            if task.identifier.isFamily {
                families.append(index)
            } else {
                exact[task.identifier.description] = index
            }
            let name =
                switch task.handler {
                case .plugin(let name, _): name
                case .function(let name): name
                }
            // The reader has refused a task without its plugin.
            guard let plugin = pluginsByName[name] else { continue }
            pluginOfDefinition.append(plugin)
            useOfDefinition.append(use(of: plugin, task.handler))
        }
        let tasks = configuration.manifest.tasks
        families.sort {
            tasks[$0].identifier.description.utf8.count
                > tasks[$1].identifier.description.utf8.count
        }
    }

    /// The definition that permits an identifier: the exact one, else the longest family.
    func definition(for identifier: String) -> Int? {
        exact[identifier]
            ?? families.first {
                configuration.manifest.tasks[$0].identifier.matches(identifier)
            }
    }

    // MARK: Looking at a plugin's file

    /// Finds a plugin's library and reads what it is, without running any of it.
    ///
    /// - Returns: whether it can be loaded as far as its file tells.
    @discardableResult
    func inspect(_ plugin: PluginSlot) -> Bool {
        do {
            plugin.dataDirectory = try state.dataDirectory(of: plugin.name)
        } catch {
            setProblem(plugin, error.description, file: nil)
            return false
        }
        guard case .plugin(let definition) = plugin.code else {
            plugin.problem = nil
            return true
        }
        let path: String
        do {
            path = try librarySearch.find(definition.library)
        } catch {
            setProblem(plugin, error.description, file: nil)
            return false
        }
        plugin.path = path
        do {
            _ = try PluginImage.inspect(path: path).requireLoadable()
            plugin.problem = nil
            return true
        } catch {
            setProblem(plugin, error.description, file: fileIdentity(path))
            return false
        }
    }

    private var librarySearch: LibrarySearch {
        LibrarySearch(
            pluginPath: configuration.pluginPath,
            manifestDirectory: configuration.manifestDirectory
        )
    }

    func fileIdentity(_ path: String) -> FileIdentity? {
        FileIdentity(path: path)
    }

    private func setProblem(_ plugin: PluginSlot, _ message: String, file: FileIdentity?) {
        if plugin.problem?.message != message {
            log.write(.error, "plugin.unusable", message, plugin: plugin.name)
        }
        plugin.problem = PluginProblem(message: message, file: file)
    }

    /// A load failed in the worker.
    ///
    /// The plugin is left alone for a while, longer each time, and for good after a few, until its
    /// file is another one.
    func loadFailed(_ plugin: PluginSlot, _ message: String) {
        plugin.loadFailures += 1
        log.write(.error, "plugin.load_failed", message, plugin: plugin.name)
        let isLast = plugin.loadFailures >= HostLimits.loadFailuresMax
        let retryAt =
            isLast
            ? UInt64.max : now + patience.loadBackoff << UInt64(plugin.loadFailures - 1)
        plugin.problem = PluginProblem(
            message: isLast
                ? "\(message) (\(plugin.loadFailures) times; it is not tried again until the file changes)"
                : message,
            file: plugin.path.flatMap(fileIdentity),
            retryAt: retryAt
        )
        if retryAt != .max { arm(retryAt, token: TimerToken.plugin(plugin.index).raw) }
    }

    /// Whether runs of this plugin can begin now.
    ///
    /// One that had a problem is looked at again once its file has changed.
    func isUsable(_ plugin: PluginSlot) -> Bool {
        guard plugin.switchedOff == nil else { return false }
        guard let problem = plugin.problem else { return true }
        let candidate: String? =
            if case .plugin(let definition) = plugin.code {
                try? librarySearch.find(definition.library)
            } else {
                nil
            }
        guard let candidate, fileIdentity(candidate) != problem.file || problem.file == nil else {
            return false
        }
        plugin.loadFailures = 0
        guard inspect(plugin) else { return false }
        if plugin.hasTurnedAway { recovered.append(plugin) }
        return true
    }

    /// A time has come at which a plugin is to be tried again.
    func pluginDue(_ plugin: PluginSlot) {
        if let problem = plugin.problem, problem.retryAt <= now {
            plugin.problem = nil
            retryRequests(of: plugin)
            dispatch()
        }
        prestart(plugin)
    }
}
