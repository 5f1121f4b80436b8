// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The drop-in of one installed bundle: `tasks.d/bundle-NAME.json`.
///
/// It is the only record of the installation, so a bundle is installed exactly if the daemon would read
/// that it is.
package struct Fragment: Equatable, Sendable {
    package var name: String
    package var version: String
    /// The public key whose owner signed the bundle; `nil` if it was installed unsigned.
    package var key: String?
    /// The SHA-256 of the bundle's list.
    package var digest: String
    /// The folder of its files; relative to the manifest's folder, or absolute.
    package var folder: String
    /// The name of the library in the folder.
    package var library: String
    /// The SHA-256 of the library, to which the daemon pins it.
    package var sha256: String
    package var grants: GrantList

    private static let prefix = "bundle-"

    /// The name of the drop-in.
    package var file: String { Self.file(of: name) }

    package static func file(of name: String) -> String { "\(prefix)\(name).json" }

    /// Whether a drop-in has the name of one.
    static func isFragment(_ file: String) -> Bool {
        file.hasPrefix(prefix) && file.hasSuffix(".json")
    }

    package init(
        _ bundle: Bundle,
        _ library: Bundle.Member,
        grants: GrantList,
        key: String?,
        pluginsFolder: String
    ) {
        name = bundle.description.name
        version = bundle.description.version
        self.key = key
        digest = bundle.digest
        folder = "\(pluginsFolder)/\(name)/\(version)-\(digest.prefix(VersionFolders.digestCount))"
        self.library = library.name
        sha256 = library.sha256
        self.grants = grants
    }

    /// The text of the drop-in.
    package var bytes: [UInt8] {
        func text(_ value: String) -> JSONNode { JSONNode(.string(value)) }
        func object(_ members: [(String, JSONNode)]) -> JSONNode {
            JSONNode(.object(members.map { JSONMember(key: $0.0, value: $0.1) }))
        }
        let record = object([
            ("about", text("Written by `bghost plugin install`; `plugin update` replaces it.")),
            ("name", text(name)), ("version", text(version)),
            ("key", key.map(text) ?? JSONNode(.null)), ("digest", text(digest)),
            ("folder", text(folder)),
        ])
        let own = [
            JSONMember(key: "library", value: text("\(folder)/\(library)")),
            JSONMember(key: "sha256", value: text(sha256)),
        ]
        let plugin = JSONNode(.object(own + (grants.plugin.object ?? [])))
        let root = object([
            ("x-bundle", record), ("plugins", object([(name, plugin)])),
            ("tasks", grants.ofPlugin(grants.tasks)),
            ("sessions", grants.ofPlugin(grants.sessions)),
        ])
        return Array((root.indentedText + "\n").utf8)
    }

    /// Reads a drop-in.
    ///
    /// - Parameter file: its path, for messages.
    package init(_ bytes: [UInt8], _ file: String) throws(BundleError) {
        // The error below says for both cases what to do with the file.
        guard let root = try? JSONReader.parse(bytes, dialect: .commented),
            let record = root["x-bundle"], let name = record["name"]?.string,
            let version = record["version"]?.string, let digest = record["digest"]?.string,
            let folder = record["folder"]?.string, BundleName.isName(name),
            BundleName.isVersion(version), let plugins = root["plugins"]?.object,
            plugins.count == 1, let plugin = plugins.first, plugin.key.isSameText(as: name),
            let path = plugin.value["library"]?.string, path.hasPrefix(folder + "/"),
            let sha256 = plugin.value["sha256"]?.string, let tasks = root["tasks"]?.object,
            let sessions = root["sessions"]?.object
        else { throw Self.edited(file) }
        self.name = name
        self.version = version
        key = record["key"]?.string
        self.digest = digest
        self.folder = folder
        library = String(path.dropFirst(folder.utf8.count + 1))
        self.sha256 = sha256
        let own = (plugin.value.object ?? []).filter { !["library", "sha256"].contains($0.key) }
        grants = try GrantList(
            name: name,
            plugin: JSONNode(.object(own)),
            tasks: JSONNode(.object(tasks.map { Self.withoutPlugin($0) })),
            sessions: JSONNode(.object(sessions.map { Self.withoutPlugin($0) })),
            handlers: nil
        )
        guard isOwnFolder else { throw Self.edited(file) }
    }

    /// Whether the folder is one that an installation makes: it is removed with all that is in it.
    private var isOwnFolder: Bool {
        let parts = folder.split(separator: "/").map(String.init)
        return parts.count >= 3 && !parts.contains("..") && !parts.contains(".")
            && parts[parts.count - 2] == name && parts[parts.count - 1].hasPrefix("\(version)-")
    }

    private static func withoutPlugin(_ entry: JSONMember) -> JSONMember {
        JSONMember(
            key: entry.key,
            value: JSONNode(.object((entry.value.object ?? []).filter { $0.key != "plugin" }))
        )
    }

    private static func edited(_ file: String) -> BundleError {
        BundleError(
            "\(file.quoted) is not as `bghost plugin install` wrote it",
            fix: "restore it, or remove it by hand and install the bundle again; an operator's own"
                + " changes belong in another drop-in, with `override`"
        )
    }
}
