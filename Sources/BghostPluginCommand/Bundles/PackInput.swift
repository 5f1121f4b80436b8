// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostBundle
internal import BghostControl
internal import BghostInspection
internal import BghostLinux
internal import BghostPlugin
internal import Glibc

/// What goes into a bundle: from a manifest to try the plugin with, from the files beside it, and from
/// the command line.
struct PackInput {
    /// The name of the plugin in the manifest; `nil` without a manifest.
    private var name: String?
    private var plugin = JSONNode(.object([]))
    private var tasks: [JSONMember] = []
    private var sessions: [JSONMember] = []
    /// Paths of libraries for other architectures.
    let libraries: [String]
    /// The other members, with the paths of their files.
    private(set) var files: [(BundleMember, String)] = []
    private(set) var warnings: [String] = []

    /// The manifest that `bghost plugin new` writes.
    private static let manifestName = "tasks.dev.json"

    /// - Parameter library: the absolute path of the plugin.
    init(_ options: BundlePacker.Options, library: String) throws(CommandFailure) {
        libraries = options.libraries.map(ControlLocation.normalized)
        let folder = Self.isFolder(options.file) ? ControlLocation.normalized(options.file) : nil
        let usual = folder.map { "\($0)/\(Self.manifestName)" }.flatMap(Self.existing)
        if let manifest = options.manifest.map(ControlLocation.normalized) ?? usual {
            try read(manifest, library)
        }
        for (key, values) in options.permissions where !values.isEmpty { grant(key, values) }
        for pair in options.tasks {
            let (identifier, handler) = try Self.split(pair, "--task", "IDENTIFIER=HANDLER")
            let node = JSONNode(
                .object([JSONMember(key: "handler", value: JSONNode(.string(handler)))])
            )
            tasks.append(JSONMember(key: identifier, value: node))
        }
        try addFiles(options, folder)
    }

    /// What `bundle.json` is to say.
    func description(
        _ summary: PluginSummary,
        _ options: BundlePacker.Options,
        library: String
    ) throws -> BundleDescription {
        let last = summary.id.split(separator: ".").last.map(String.init) ?? summary.id
        let note = try PluginImage.inspect(path: library).requireLoadable()
        let description = BundleDescription(
            name: options.name ?? name ?? last,
            version: summary.version,
            id: summary.id,
            abi: ABIVersion(major: note.abiMajor, minor: note.abiMinor),
            handlers: summary.handlers.sorted(),
            licence: options.licence,
            homepage: options.homepage,
            plugin: plugin,
            tasks: JSONNode(.object(tasks)),
            sessions: JSONNode(.object(sessions))
        )
        do throws(BundleError) {
            // By the rules of the reader, so that what is packed can be installed.
            return try BundleDescription(description.bytes)
        } catch {
            throw CommandFailure(error)
        }
    }

    // MARK: The manifest

    private mutating func read(_ manifest: String, _ library: String) throws(CommandFailure) {
        let place = TerminalText.escaped(manifest)
        let root: JSONNode
        do {
            let bytes = try SmallFile.read(manifest, bytesMax: 1 << 20).get()
            root = try JSONReader.parse(bytes, dialect: .commented)
        } catch {
            throw CommandFailure(
                .inputMissing,
                "cannot read the manifest \(place): \(TerminalText.escaped("\(error)"))",
                fix: "bghost check --config \(place)"
            )
        }
        let file = Self.name(of: library)
        let plugins = root["plugins"]?.object ?? []
        let own = plugins.filter { Self.name(of: $0.value["library"]?.string ?? "") == file }
        guard let entry = own.first ?? (plugins.count == 1 ? plugins.first : nil), own.count <= 1
        else {
            throw CommandFailure(
                .usage,
                "\(place) has no plugin, or not exactly one, whose `library` is \(TerminalText.escaped(file))",
                fix: "name another manifest with --manifest"
            )
        }
        name = entry.key
        takePlugin(entry)
        takeTasks(of: entry.key, root)
    }

    private mutating func takePlugin(_ entry: JSONMember) {
        let (kept, left) = GrantList.sorted(entry.value)
        plugin = kept
        // `library` is another one in each installation.
        let said = left.filter { $0 != "library" }
        if !said.isEmpty {
            warnings.append(
                "the bundle does not ask for what only an operator decides: "
                    + said.joined(separator: ", ")
            )
        }
    }

    private mutating func takeTasks(of plugin: String, _ root: JSONNode) {
        for task in root["tasks"]?.object ?? [] where task.value["plugin"]?.string == plugin {
            var members = (task.value.object ?? []).filter { $0.key != "plugin" }
            if task.value["handler"] == nil {
                let handler = task.key.hasSuffix(".*") ? String(task.key.dropLast(2)) : task.key
                members.insert(
                    JSONMember(key: "handler", value: JSONNode(.string(handler))),
                    at: 0
                )
            }
            tasks.append(JSONMember(key: task.key, value: JSONNode(.object(members))))
        }
        for session in root["sessions"]?.object ?? []
        where session.value["plugin"]?.string == plugin {
            let members = (session.value.object ?? []).filter { $0.key != "plugin" }
            sessions.append(JSONMember(key: session.key, value: JSONNode(.object(members))))
        }
    }

    private mutating func grant(_ key: String, _ values: [String]) {
        plugin = plugin.setting("permissions") { permissions in
            permissions.setting(key) { list in
                let more = values.map { JSONNode(.string($0)) }
                return JSONNode(.array((list.array ?? []) + more))
            }
        }
    }

    // MARK: Files

    private mutating func addFiles(
        _ options: BundlePacker.Options,
        _ folder: String?
    ) throws(CommandFailure) {
        let beside = { (name: String) in folder.map { "\($0)/\(name)" }.flatMap(Self.existing) }
        if let readme = options.readme ?? beside("README.md") { files.append((.readme, readme)) }
        let licences = ["LICENSE", "LICENSE.txt", "LICENCE", "COPYING"]
        if let licence = options.licenceFile ?? licences.compactMap(beside).first {
            files.append((.licence, licence))
        }
        for pair in options.schemas {
            let (handler, file) = try Self.split(pair, "--schema", "HANDLER=FILE")
            files.append((.schema(handler: handler), file))
        }
    }

    private static func split(
        _ pair: String,
        _ option: String,
        _ form: String
    ) throws(CommandFailure) -> (String, String) {
        guard let sign = pair.firstIndex(of: "="), sign != pair.startIndex else {
            throw CommandFailure(
                .usage,
                "\(option) \(TerminalText.escaped(pair)) is not of the form \(form)"
            )
        }
        return (String(pair[..<sign]), String(pair[pair.index(after: sign)...]))
    }

    private static func existing(_ path: String) -> String? {
        access(path, F_OK) == 0 ? path : nil
    }

    private static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    static func name(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}

extension JSONNode {
    /// The object with a changed value of one key, which is null if it was not there.
    fileprivate func setting(_ key: String, _ change: (JSONNode) -> JSONNode) -> JSONNode {
        var members = object ?? []
        if let index = members.firstIndex(where: { $0.key.isSameText(as: key) }) {
            members[index].value = change(members[index].value)
        } else {
            members.append(JSONMember(key: key, value: change(JSONNode(.null))))
        }
        return JSONNode(.object(members))
    }
}
