// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// What `bundle.json` says of a bundle.
package struct BundleDescription: Equatable, Sendable {
    /// The name of the plugin in manifests and of what is installed.
    package var name: String
    package var version: String
    /// The id that the plugin gives itself, reverse DNS.
    package var id: String
    /// The first version of the ABI that it can be used with; any later one of the same major can too.
    package var abi: ABIVersion
    /// The names of its handlers.
    package var handlers: [String]
    /// An SPDX expression; `nil` if its author does not say.
    package var licence: String?
    package var homepage: String?
    /// The keys that its entry of `plugins` is to have, such as `permissions`: an object.
    package var plugin: JSONNode
    /// The entries of `tasks` that it is to have, each without `plugin`: an object.
    package var tasks: JSONNode
    /// The entries of `sessions` that it is to have, each without `plugin`: an object.
    package var sessions: JSONNode

    package static let schema = "bghost.bundle/1"

    package init(
        name: String,
        version: String,
        id: String,
        abi: ABIVersion,
        handlers: [String],
        licence: String? = nil,
        homepage: String? = nil,
        plugin: JSONNode = JSONNode(.object([])),
        tasks: JSONNode = JSONNode(.object([])),
        sessions: JSONNode = JSONNode(.object([]))
    ) {
        self.name = name
        self.version = version
        self.id = id
        self.abi = abi
        self.handlers = handlers
        self.licence = licence
        self.homepage = homepage
        self.plugin = plugin
        self.tasks = tasks
        self.sessions = sessions
    }

    /// The text, indented, with a newline at its end.
    package var bytes: [UInt8] {
        func text(_ value: String) -> JSONNode { JSONNode(.string(value)) }
        let range = JSONNode(
            .object([
                JSONMember(key: "from", value: text(abi.description)),
                JSONMember(key: "before", value: text("\(Int(abi.major) + 1).0")),
            ])
        )
        var members = [
            JSONMember(key: "schema", value: text(Self.schema)),
            JSONMember(key: "name", value: text(name)),
            JSONMember(key: "version", value: text(version)),
            JSONMember(key: "id", value: text(id)),
            JSONMember(key: "abi", value: range),
            JSONMember(key: "handlers", value: JSONNode(.array(handlers.map(text)))),
        ]
        if let licence { members.append(JSONMember(key: "licence", value: text(licence))) }
        if let homepage { members.append(JSONMember(key: "homepage", value: text(homepage))) }
        members.append(JSONMember(key: "plugin", value: plugin))
        members.append(JSONMember(key: "tasks", value: tasks))
        if sessions.object?.isEmpty == false {
            members.append(JSONMember(key: "sessions", value: sessions))
        }
        return Array((JSONNode(.object(members)).indentedText + "\n").utf8)
    }
}

/// A version of the C ABI.
package struct ABIVersion: Equatable, Sendable, CustomStringConvertible {
    package var major: UInt16
    package var minor: UInt16

    package init(major: UInt16, minor: UInt16) {
        self.major = major
        self.minor = minor
    }

    /// Parses `1.0`.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let major = UInt16(parts[0]), let minor = UInt16(parts[1]),
            major < UInt16.max
        else { return nil }
        self.init(major: major, minor: minor)
        guard description.isSameText(as: text) else { return nil }
    }

    package var description: String { "\(major).\(minor)" }

    /// Whether a host of a version can load a plugin that was built for this one.
    package func isSpoken(by host: ABIVersion) -> Bool {
        major == host.major && minor <= host.minor
    }
}

// MARK: - Reading

extension BundleDescription {
    /// Reads and checks `bundle.json`; of `plugin`, `tasks` and `sessions` only the form, see `GrantList`.
    package init(_ bytes: [UInt8]) throws(BundleError) {
        let root: JSONNode
        do throws(JSONError) {
            root = try JSONReader.parse(bytes, dialect: .strict)
        } catch {
            throw .damaged("bundle.json is no JSON: \(error.description)")
        }
        guard let members = root.object else { throw Self.wrong("", "it is \(root.typeName)") }
        // A key that is not known could be a wish that would be granted without being shown.
        for member in members where !Self.keys.contains(where: { $0.isSameText(as: member.key) }) {
            throw BundleError(
                "bundle.json has the key \(member.key.quoted), which this bghost does not know",
                fix: "if the bundle is for a newer bghost, upgrade; else remove the key"
            )
        }
        guard try Self.text("schema", root) == Self.schema else {
            throw BundleError(
                "the bundle is of another format than \(Self.schema)",
                fix: "upgrade bghost, or get a bundle that was packed for this version"
            )
        }
        try self.init(members: root)
        guard BundleName.isName(name) else { throw Self.wrong("name", "is no name of a plugin") }
        guard BundleName.isVersion(version) else {
            throw Self.wrong("version", "is no version such as 1.2.0")
        }
        guard BundleName.isHandler(id) else { throw Self.wrong("id", "is no id of a plugin") }
        if let licence { try Self.requireLine(licence, "licence", bytesMax: 128) }
        try Self.requireAddress(homepage)
    }

    private static let keys = [
        "schema", "name", "version", "id", "abi", "handlers", "licence", "homepage", "plugin",
        "tasks", "sessions",
    ]

    private init(members root: JSONNode) throws(BundleError) {
        var handlers: [String] = []
        guard let list = root["handlers"]?.array, (1...256).contains(list.count) else {
            throw Self.wrong("handlers", "is no array of 1 to 256 names")
        }
        for element in list {
            guard let handler = element.string, BundleName.isHandler(handler),
                !handlers.contains(handler)
            else {
                throw Self.wrong("handlers", "has an element that is no name, or has one twice")
            }
            handlers.append(handler)
        }
        self.init(
            name: try Self.text("name", root),
            version: try Self.text("version", root),
            id: try Self.text("id", root),
            abi: try Self.abi(root["abi"]),
            handlers: handlers,
            licence: root["licence"] == nil ? nil : try Self.text("licence", root),
            homepage: root["homepage"] == nil ? nil : try Self.text("homepage", root),
            plugin: try Self.object("plugin", root),
            tasks: try Self.object("tasks", root),
            sessions: root["sessions"] == nil
                ? JSONNode(.object([])) : try Self.object("sessions", root)
        )
    }

    private static func abi(_ node: JSONNode?) throws(BundleError) -> ABIVersion {
        guard let node, node.object?.count == 2,
            let from = node["from"]?.string.flatMap(ABIVersion.init),
            let before = node["before"]?.string.flatMap(ABIVersion.init),
            before == ABIVersion(major: from.major + 1, minor: 0)
        else {
            throw wrong("abi", "is no range such as {\"from\": \"1.0\", \"before\": \"2.0\"}")
        }
        return from
    }

    private static func text(_ key: String, _ root: JSONNode) throws(BundleError) -> String {
        guard let text = root[key]?.string else {
            throw wrong(key, root[key] == nil ? "is missing" : "is no string")
        }
        return text
    }

    private static func object(_ key: String, _ root: JSONNode) throws(BundleError) -> JSONNode {
        guard let node = root[key], node.object != nil else { throw wrong(key, "is no object") }
        return node
    }

    private static func requireLine(
        _ text: String,
        _ key: String,
        bytesMax: Int
    ) throws(BundleError) {
        guard !text.isEmpty, text.utf8.count <= bytesMax,
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw wrong(key, "is not 1 to \(bytesMax) printable characters of ASCII") }
    }

    private static func requireAddress(_ homepage: String?) throws(BundleError) {
        guard let homepage else { return }
        try requireLine(homepage, "homepage", bytesMax: 512)
        guard homepage.hasPrefix("https://") || homepage.hasPrefix("http://") else {
            throw wrong("homepage", "does not begin with https:// or http://")
        }
    }

    private static func wrong(_ key: String, _ reason: String) -> BundleError {
        BundleError(
            "bundle.json: " + (key.isEmpty ? reason : "`\(key)` \(reason)"),
            fix: "correct it and make the bundle again with `bghost plugin pack`"
        )
    }
}
