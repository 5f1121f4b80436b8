// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// One thing that a plugin is permitted: as it is shown to the operator, and as it is written into the
/// manifest.
///
/// Both come from here, so that nothing is written that was not shown.
package struct Grant: Equatable, Sendable {
    /// The keys below the root of the manifest.
    let path: [String]
    let value: JSONNode
    /// Whether the value is one element of the array at the path.
    let isElement: Bool

    init(_ path: [String], _ value: JSONNode, isElement: Bool = false) {
        self.path = path
        self.value = value
        self.isElement = isElement
    }

    /// The task that it belongs to; `nil` for others.
    package var task: String? { path[0] == "tasks" ? path[1] : nil }
    /// The session of transfers that it belongs to; `nil` for others.
    package var session: String? { path[0] == "sessions" ? path[1] : nil }
    /// Whether it belongs to the plugin itself.
    package var isPlugins: Bool { path[0] == "plugins" }
    /// The keys below the definition.
    private var keys: ArraySlice<String> { path.dropFirst(2) }

    /// The subject in one word: `network`, `memory`, `every`.
    package var subject: String {
        switch (isPlugins, keys.first) {
        case (true, "permissions"), (true, "limits"): keys.last ?? ""
        default: keys.first ?? "defaults"
        }
    }

    /// What it permits, for people; not escaped.
    package var text: String {
        let written = value.string ?? value.text
        guard !keys.isEmpty else { return "the usual settings" }
        guard isPlugins else { return written }
        switch Array(keys) {
        case ["permissions", "network"]: return "the daemon speaks to \(written) for it"
        case ["permissions", "directNetwork"]: return "it opens network sockets itself, to any host"
        case ["permissions", "read"]: return "it reads \(written)"
        case ["permissions", "write"]: return "it reads and writes \(written)"
        case ["permissions", "submit"]: return "it submits requests for the task \(written)"
        case ["permissions", "notify"]: return "it posts notifications"
        case ["permissions", "jit"]: return "it makes code while it runs"
        case ["limits", "processes"] where written == "1": return "it starts no programs"
        case ["limits", "processes"]: return "it starts programs: \(written) processes with itself"
        default: return written
        }
    }
}

/// All that a bundle asks for.
package struct GrantList: Equatable, Sendable {
    /// The name of the plugin.
    package let name: String
    package let grants: [Grant]

    /// The keys of a plugin that a bundle may ask for.
    ///
    /// The others are the operator's, such as `isolation` and `signedBy`, or are written by
    /// `bghost plugin install`, such as `library` and `sha256`.
    static let pluginKeys = [
        "permissions", "limits", "runsPerWorker", "maxPending", "runtimePerDay", "config",
        "require",
    ]
    /// The keys of a task or session that a bundle may not have.
    private static let refusedKeys = ["plugin", "function", "override"]

    /// Lists what a bundle asks for.
    package init(_ description: BundleDescription) throws(BundleError) {
        try self.init(
            name: description.name,
            plugin: description.plugin,
            tasks: description.tasks,
            sessions: description.sessions,
            handlers: description.handlers
        )
    }

    /// - Parameters:
    ///   - plugin: the keys of its entry of `plugins`.
    ///   - tasks: the entries of `tasks`, each without `plugin`.
    ///   - sessions: the entries of `sessions`, each without `plugin`.
    ///   - handlers: the names that a `handler` may have; `nil` if any.
    init(
        name: String,
        plugin: JSONNode,
        tasks: JSONNode,
        sessions: JSONNode,
        handlers: [String]?
    ) throws(BundleError) {
        self.name = name
        var grants: [Grant] = []
        for member in plugin.object ?? [] {
            guard Self.pluginKeys.contains(where: { $0.isSameText(as: member.key) }) else {
                throw BundleError(
                    "the bundle sets \(member.key.quoted) of the plugin, which only an operator may",
                    fix: "take it out of the manifest that is packed; possible are "
                        + Self.pluginKeys.joined(separator: ", ")
                )
            }
            try Self.requireNoReference(member.value, "plugin, \(member.key.quoted)")
            grants += try Self.grants(of: member, ["plugins", name])
        }
        for (section, node) in [("tasks", tasks), ("sessions", sessions)] {
            for entry in node.object ?? [] {
                try Self.requireNoReference(entry.value, "\(section), \(entry.key.quoted)")
                grants += try Self.grants(of: entry, in: section, handlers)
            }
        }
        self.grants = grants
    }

    private static func grants(
        of member: JSONMember,
        _ path: [String]
    ) throws(BundleError) -> [Grant] {
        guard ["permissions", "limits"].contains(member.key) else {
            return [Grant(path + [member.key], member.value)]
        }
        guard let members = member.value.object else {
            throw wrong("\(member.key.quoted) is no object")
        }
        var grants: [Grant] = []
        for inner in members {
            let path = path + [member.key, inner.key]
            if let elements = inner.value.array {
                if ["read", "write"].contains(inner.key) { try requireAbsolute(elements) }
                grants += elements.map { Grant(path, $0, isElement: true) }
            } else if inner.value.bool != false {
                grants.append(Grant(path, inner.value))
            }
        }
        return grants
    }

    private static func grants(
        of entry: JSONMember,
        in section: String,
        _ handlers: [String]?
    ) throws(BundleError) -> [Grant] {
        let name = "\(section), \(entry.key.quoted)"
        guard let members = entry.value.object else { throw wrong("\(name), is no object") }
        let handler = entry.value["handler"]?.string
        // A session has a handler by default, which the plugin need not have.
        let isOptional = section == "sessions" && entry.value["handler"] == nil
        guard isOptional || handler.map({ handlers?.contains($0) ?? true }) ?? false else {
            let known = (handlers ?? []).map(\.quoted).joined(separator: ", ")
            throw wrong("\(name), names no `handler` of the plugin, which has \(known)")
        }
        if let key = members.first(where: { refusedKeys.contains($0.key) })?.key {
            throw wrong("\(name), has the key \(key.quoted), which a bundle must not set")
        }
        // It is shown and written also if it leaves all to the defaults.
        guard !members.isEmpty else { return [Grant([section, entry.key], entry.value)] }
        return members.map { Grant([section, entry.key, $0.key], $0.value) }
    }

    /// Refuses what would depend on the folder of the operator's manifest.
    private static func requireAbsolute(_ paths: [JSONNode]) throws(BundleError) {
        for path in paths.compactMap(\.string) {
            guard path.hasPrefix("/"), !path.split(separator: "/").contains("..") else {
                throw wrong("the path \(path.quoted) of a permission is not absolute, or has `..`")
            }
        }
    }

    /// Refuses `${env:…}`, `${file:…}` and `${credential:…}`: they would hand the operator's secrets to
    /// the plugin.
    private static func requireNoReference(
        _ node: JSONNode,
        _ place: String
    ) throws(BundleError) {
        guard !node.text.containsASCII("${") else {
            throw wrong("\(place) has `${`: a bundle must not refer to secrets of the operator")
        }
    }

    private static func wrong(_ message: String) -> BundleError {
        BundleError(
            "the bundle asks for what it cannot get: \(message)",
            fix: "correct it and pack it again"
        )
    }
}

// MARK: - Back to the manifest

extension GrantList {
    /// The granted keys of the entry of `plugins`.
    package var plugin: JSONNode { entry(["plugins", name]) }

    /// The granted entries of `tasks`.
    package var tasks: JSONNode { entry(["tasks"]) }

    /// The granted entries of `sessions`.
    package var sessions: JSONNode { entry(["sessions"]) }

    /// The tasks, in their order.
    package var identifiers: [String] { (tasks.object ?? []).map(\.key) }

    private func entry(_ path: [String]) -> JSONNode {
        var node = JSONNode(.object([]))
        for grant in grants where grant.path.starts(with: path) {
            node.put(grant.value, at: grant.path.dropFirst(path.count), isElement: grant.isElement)
        }
        return node
    }
}

extension JSONNode {
    /// Sets a value below an object, or appends it to the array there.
    fileprivate mutating func put(_ value: JSONNode, at path: ArraySlice<String>, isElement: Bool) {
        guard let key = path.first else {
            guard isElement else { return self = value }
            return self = JSONNode(.array((array ?? []) + [value]))
        }
        var members = object ?? []
        if let index = members.firstIndex(where: { $0.key.isSameText(as: key) }) {
            members[index].value.put(value, at: path.dropFirst(), isElement: isElement)
        } else {
            var inner = JSONNode(.object([]))
            inner.put(value, at: path.dropFirst(), isElement: isElement)
            members.append(JSONMember(key: key, value: inner))
        }
        self = JSONNode(.object(members))
    }
}

extension GrantList {
    /// Divides the keys of an entry of `plugins` into those that a bundle may ask for, and the names of the
    /// others.
    package static func sorted(_ entry: JSONNode) -> (kept: JSONNode, left: [String]) {
        let members = entry.object ?? []
        let isOwn = { (member: JSONMember) in
            pluginKeys.contains { $0.isSameText(as: member.key) }
        }
        return (
            JSONNode(.object(members.filter(isOwn))),
            members.filter { !isOwn($0) && !$0.key.hasPrefix("x-") }.map(\.key)
        )
    }
}
