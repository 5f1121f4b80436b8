// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostModel
package import BghostPolicy

extension ReloadReport {
    /// Describes what a reload did, or would do.
    ///
    /// - Parameters:
    ///   - old: the manifest before, and the names of the plugins by their index before.
    ///   - new: the manifest after, and the catalog with it.
    ///   - comparison: the keys that differ between the files of the two.
    ///   - replaced: plugins whose files or signer's key have changed.
    package init(
        _ outcome: ReloadOutcome,
        from old: (manifest: Manifest, plugins: [String]),
        to new: (manifest: Manifest, catalog: TaskCatalog),
        _ comparison: WrittenComparison,
        replaced: [String]
    ) {
        let change = outcome.change
        func name(_ task: Int) -> String { new.catalog.tasks[task].identifier.description }
        let retired = Set(change.retiredPlugins.map { old.plugins[$0] })
        let brought = change.newPlugins.map { new.catalog.plugins[$0].name }
        let changedTasks = change.newTasks.filter { change.formerTasks[$0] != nil }
        let changedPlugins = brought.filter { retired.contains($0) }
        let host = HostKey.allCases.filter { !$0.isSame(old.manifest.host, new.manifest.host) }
            .map(\.rawValue)
        // First what concerns more than one task: a report has a bounded number of changes.
        var changes =
            comparison.of(.host).map { Change(.host, "", $0) }
            + Self.others(from: old.manifest.written, to: new.manifest.written, comparison)
        for name in changedPlugins {
            changes += Self.changes(of: name, comparison, isReplaced: replaced.contains(name))
        }
        for task in changedTasks {
            let written = comparison.of(.task, name(task))
            changes += written.map { Change(.task, name(task), $0) }
            guard written.isEmpty else { continue }
            let plugin = new.catalog.plugins[new.catalog.pluginOfTask[task]].name
            changes.append(
                Change(
                    kind: WrittenDefinition.Kind.task.rawValue,
                    name: name(task),
                    reason: changedPlugins.contains(plugin)
                        ? "\(plugin) has changed" : "a value that it refers to has changed"
                )
            )
        }
        self.init(
            tasks: Names(
                added: change.newTasks.filter { change.formerTasks[$0] == nil }.map(name),
                changed: changedTasks.map(name),
                removed: change.removedTasks
            ),
            plugins: Names(
                added: brought.filter { !retired.contains($0) },
                changed: changedPlugins,
                removed: change.removedPlugins
            ),
            host: host,
            parked: outcome.parked,
            unparked: outcome.unparked,
            changes: changes
        )
    }

    /// The changes of signers, sessions and notifications, also those that came and went.
    private static func others(
        from old: WrittenDefinitions,
        to new: WrittenDefinitions,
        _ comparison: WrittenComparison
    ) -> [Change] {
        var changes: [Change] = []
        for kind in [WrittenDefinition.Kind.signer, .session, .notifications] {
            let (before, after) = (old.names(of: [kind]), new.names(of: [kind]))
            for name in after {
                changes += comparison.of(kind, name).map { Change(kind, name, $0) }
                guard !before.contains(name) else { continue }
                changes.append(Change(kind: kind.rawValue, name: name, reason: "added"))
            }
            changes += before.filter { !after.contains($0) }
                .map { Change(kind: kind.rawValue, name: $0, reason: "removed") }
        }
        return changes
    }

    /// The changes of one plugin or function.
    private static func changes(
        of name: String,
        _ comparison: WrittenComparison,
        isReplaced: Bool
    ) -> [Change] {
        let written =
            comparison.of(.plugin, name).map { Change(.plugin, name, $0) }
            + comparison.of(.function, name).map { Change(.function, name, $0) }
        guard isReplaced || written.isEmpty else { return written }
        return written + [
            Change(
                kind: WrittenDefinition.Kind.plugin.rawValue,
                name: name,
                reason: isReplaced
                    ? "its library or its signer's key has changed"
                    : "a value that it refers to has changed"
            )
        ]
    }

    /// The summary and the first changes in one line: the log escapes line breaks.
    package var logText: String {
        let lines = linesWithoutSecrets
        let rest = lines.count - Self.logLinesMax
        return ([summary] + lines.prefix(Self.logLinesMax)).joined(separator: "; ")
            + (rest > 0 ? "; and \(rest) more" : "")
    }

    private static let logLinesMax = 20
}

extension ReloadReport {
    /// Describes how the files of two manifests differ, for a daemon that started with the second.
    ///
    /// The cost is O(size of both manifests).
    package init(from old: WrittenDefinitions, to new: WrittenDefinitions) {
        let comparison = WrittenComparison(new, since: old)
        func changes(_ kinds: WrittenDefinition.Kind...) -> [Change] {
            new.all.filter { kinds.contains($0.kind) }.flatMap { definition in
                comparison.of(definition.kind, definition.name)
                    .map { Change(definition.kind, definition.name, $0) }
            }
        }
        func names(_ kinds: WrittenDefinition.Kind...) -> Names {
            let (before, after) = (old.names(of: kinds), new.names(of: kinds))
            let (known, wanted) = (Set(before), Set(after))
            return Names(
                added: after.filter { !known.contains($0) },
                changed: after.filter { name in
                    kinds.contains { !comparison.of($0, name).isEmpty }
                },
                removed: before.filter { !wanted.contains($0) }
            )
        }
        let host = comparison.of(.host).map { String($0.key.prefix { $0 != "." && $0 != "[" }) }
        self.init(
            tasks: names(.task),
            plugins: names(.plugin, .function),
            host: host.enumerated().filter { !host[..<$0.offset].contains($0.element) }
                .map(\.element),
            changes: changes(.host) + Self.others(from: old, to: new, comparison)
                + changes(.plugin, .function, .task)
        )
    }
}

extension WrittenDefinitions {
    fileprivate func names(of kinds: [WrittenDefinition.Kind]) -> [String] {
        all.filter { kinds.contains($0.kind) }.map(\.name)
    }
}

extension ReloadReport.Change {
    fileprivate init(
        _ kind: WrittenDefinition.Kind,
        _ name: String,
        _ change: WrittenChange
    ) {
        self.init(
            kind: kind.rawValue,
            name: name,
            key: change.key,
            before: change.before,
            after: change.after
        )
    }
}
