// SPDX-License-Identifier: Apache-2.0

/// The changes that a reload of the manifest made, or would make.
package struct ReloadReport: Codable, Equatable, Sendable {
    /// Added, changed and removed names, each in the manifest's order.
    package struct Names: Codable, Equatable, Sendable {
        /// In the new manifest only.
        @Elements package var added: [String]
        /// In both manifests, with different definitions.
        @ElementsOrEmpty package var changed: [String]
        /// In the old manifest only.
        @ElementsOrEmpty package var removed: [String]

        package init(added: [String] = [], changed: [String] = [], removed: [String] = []) {
            self.added = added
            self.changed = changed
            self.removed = removed
        }

        var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }

        /// A text such as "1 added, 2 changed"; "" if it is empty.
        var summary: String {
            [(added, "added"), (changed, "changed"), (removed, "removed")]
                .filter { !$0.0.isEmpty }.map { "\($0.0.count) \($0.1)" }.joined(separator: ", ")
        }
    }

    /// One changed key, or the reason why a definition changed without one.
    package struct Change: Codable, Equatable, Sendable {
        /// `host`, `plugin`, `function`, `task`, `signer`, `session` or `notifications`.
        package var kind: String
        /// The name of the definition; "" for `host` and `notifications`.
        @OrDefault package var name: String
        /// The path of the key, such as `limits.runtime`; null if no key has changed.
        @OrNull package var key: String?
        /// The value before as the manifest contained it, shortened; null if it was not given.
        @OrNull package var before: String?
        /// The value after; null if it is not given any more.
        @OrNull package var after: String?
        /// Why the definition changed although its keys did not; null if a key has changed.
        @OrNull package var reason: String?

        package init(
            kind: String,
            name: String,
            key: String? = nil,
            before: String? = nil,
            after: String? = nil,
            reason: String? = nil
        ) {
            self.kind = kind
            self.name = name
            self.key = key
            self.before = before
            self.after = after
            self.reason = reason
        }

        /// The first parts of keys whose values may be secret.
        private static let secretKeys: Set<Substring> = [
            "alerts", "config", "fleet", "heartbeat", "parameters", "traces",
        ]

        /// Whether the value of a key may be secret.
        package static func maySecret(_ key: String) -> Bool {
            secretKeys.contains(key.prefix { $0 != "." && $0 != "[" })
        }

        /// The change, without its values if they may be secret.
        fileprivate var withoutSecrets: Change {
            guard let key, Self.maySecret(key) else { return self }
            return Change(kind: kind, name: name, reason: "\(key) has changed")
        }

        /// A line such as `task backup: every: 30s → 45s`.
        var line: String {
            let subject = name.isEmpty ? kind : "\(kind) \(name)"
            guard let key else { return "\(subject): \(reason ?? "changed")" }
            return "\(subject): \(key): \(before ?? "not given") → \(after ?? "not given")"
        }
    }

    /// Whether this is the answer to a dry run: then nothing has changed.
    @OrDefault package var dryRun: Bool
    /// Tasks.
    package var tasks: Names
    /// Plugins and functions.
    package var plugins: Names
    /// The changed keys of `host`.
    @ElementsOrEmpty var host: [String]
    /// The number of requests whose task was removed.
    @OrDefault var parked: Int
    /// The number of requests whose task is in the manifest again.
    @OrDefault var unparked: Int
    /// The changed keys of `host` and of changed definitions, at most 1,000.
    @ElementsOrEmpty package var changes: [Change]

    /// The most changes in a report.
    package static let changesMax = 1000

    package init(
        tasks: Names = Names(),
        plugins: Names = Names(),
        host: [String] = [],
        parked: Int = 0,
        unparked: Int = 0,
        changes: [Change] = [],
        dryRun: Bool = false
    ) {
        self.tasks = tasks
        self.plugins = plugins
        self.host = host
        self.parked = parked
        self.unparked = unparked
        self.changes = Array(changes.prefix(Self.changesMax))
        self.dryRun = dryRun
    }

    /// The changes of what is neither `host` nor a task, plugin or function.
    private var others: [Change] {
        changes.filter { !["host", "plugin", "function", "task"].contains($0.kind) }
    }

    /// Whether the manifest has no changes.
    var isEmpty: Bool { tasks.isEmpty && plugins.isEmpty && host.isEmpty && others.isEmpty }

    /// All changes in one line.
    package var summary: String {
        guard !isEmpty else { return "nothing has changed" }
        var parts: [String] = []
        if !tasks.isEmpty { parts.append("tasks: \(tasks.summary)") }
        if !plugins.isEmpty { parts.append("plugins: \(plugins.summary)") }
        if !host.isEmpty { parts.append("host: \(host.joined(separator: ", "))") }
        let kinds = others.reduce(into: [String]()) { kinds, change in
            if !kinds.contains(change.kind) { kinds.append(change.kind) }
        }
        parts += kinds.map { "\($0): changed" }
        if parked > 0 { parts.append("requests parked: \(parked)") }
        if unparked > 0 { parts.append("requests that wait again: \(unparked)") }
        return parts.joined(separator: "; ")
    }

    /// ``lines`` for the audit and the log, which are kept and which users may read who may not change
    /// anything: without the values of keys that may hold a secret.
    package var linesWithoutSecrets: [String] {
        var report = self
        report.changes = changes.map(\.withoutSecrets)
        return report.lines
    }

    /// One line for each change: `+` added, `~` changed, `-` removed.
    package var lines: [String] {
        // First what concerns more than one task: a part of a long list may be left out.
        var lines = (changes.filter { $0.kind == "host" } + others).map { "~ \($0.line)" }
        let byTask = Dictionary(grouping: changes.filter { $0.kind == "task" }, by: \.name)
        let byPlugin = Dictionary(
            grouping: changes.filter { $0.kind == "plugin" || $0.kind == "function" },
            by: \.name
        )
        for (noun, names, own) in [("task", tasks, byTask), ("plugin", plugins, byPlugin)] {
            lines += names.added.map { "+ \(noun) \($0)" }
            for name in names.changed {
                lines += own[name]?.map { "~ \($0.line)" } ?? ["~ \(noun) \(name)"]
            }
            lines += names.removed.map { "- \(noun) \($0)" }
        }
        return lines
    }
}
