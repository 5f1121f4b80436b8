// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostControl
internal import BghostModel
internal import BghostTerminal
internal import Glibc

/// What the author's manifest declares for the plugin that `bghost plugin run` runs: that of `--manifest`, or the
/// `tasks.dev.json` of the folder that is named.
struct DeclaredGrants {
    /// As `bghost plugin new` names it, and `bghost plugin pack` finds it.
    private static let manifestName = "tasks.dev.json"

    /// The absolute path of the manifest.
    let manifest: String
    private let plugin: PluginDefinition
    private let sessions: [SessionDefinition]

    /// Reads what is declared.
    ///
    /// - Parameters:
    ///   - manifest: the path that the author named; `nil` for the folder's own.
    ///   - file: the plugin or the folder that the author named.
    ///   - library: the absolute path of the library.
    /// - Returns: `nil` if there is no manifest and none was named.
    static func find(
        _ manifest: String?,
        file: String,
        library: String,
        _ console: Console
    ) throws(CommandFailure) -> DeclaredGrants? {
        let usual = "\(ControlLocation.normalized(file))/\(manifestName)"
        // With a file in place of a folder, this path does not exist.
        guard let path = manifest ?? (access(usual, F_OK) == 0 ? usual : nil) else { return nil }
        return try DeclaredGrants(path, library: library, console)
    }

    private init(
        _ path: String,
        library: String,
        _ console: Console
    ) throws(CommandFailure) {
        let reading = ManifestFiles.read(path)
        let content = try reading.require(console)
        let name = PackInput.name(of: library)
        let own = content.plugins.filter { PackInput.name(of: $0.library) == name }
        guard let plugin = own.first, own.count == 1 else {
            throw CommandFailure(
                .usage,
                "\(TerminalText.escaped(path)) has "
                    + (own.isEmpty ? "no plugin" : "several plugins")
                    + " whose `library` is \(TerminalText.escaped(name))",
                fix: "name another manifest with --manifest, or the .so in place of its folder"
            )
        }
        manifest = reading.path
        self.plugin = plugin
        sessions = content.sessions.filter { $0.plugin == plugin.name }
    }

    /// Adds what is declared to the plugin of a run.
    ///
    /// Options of the command line are added to the permissions, and replace the settings. Notifications need a
    /// task that delivers them, and so a daemon.
    func apply(to definition: inout PluginDefinition) {
        let given = definition.permissions
        definition.permissions = plugin.permissions
        definition.permissions.notify = false
        definition.permissions.network += given.network
        definition.permissions.read += given.read
        definition.permissions.write += given.write
        definition.limits = plugin.limits
        if definition.config == "{}" { definition.config = plugin.config }
    }

    /// The sessions, as those of a plugin with this name.
    func sessions(of name: String) -> [SessionDefinition] {
        sessions.map { session in
            var session = session
            session.plugin = name
            return session
        }
    }

    /// One line for people: what the run may do that a plugin without a manifest may not; `nil` if that is nothing.
    var remark: String? {
        let permissions = plugin.permissions
        var words: [String] = []
        func add(_ name: String, _ values: [String]) {
            if !values.isEmpty { words.append("\(name) " + values.joined(separator: ", ")) }
        }
        if !permissions.network.isEmpty { words.append("network") }
        if permissions.directNetwork { words.append("sockets of its own") }
        add("read", permissions.read)
        add("write", permissions.write)
        add("sessions", sessions.map(\.name))
        if words.isEmpty { return nil }
        let list = words.joined(separator: "; ")
        return TerminalText.escaped("permitted by \(manifest): \(list)")
    }
}
