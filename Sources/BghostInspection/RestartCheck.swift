// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// Finds changes of a manifest that require a restart of the daemon.
package enum RestartCheck {
    /// Descriptions of the changes that require a restart, each with its key.
    ///
    /// Changes of unknown sections are included, so that a reload never applies a new section only in part.
    package static func changes(from old: Manifest, to new: Manifest) -> [String] {
        hostChanges(old.host, new.host) + inProcessChanges(old, new) + fleetChanges(old, new)
            + otherChanges(old, new)
    }

    private static func hostChanges(_ old: HostSettings, _ new: HostSettings) -> [String] {
        var changes: [String] = []
        for key in HostKey.allCases where !key.mayChange && !key.isSame(old, new) {
            changes.append(
                "`host.\(key.rawValue)` is \(key.text(of: old) ?? "not given") and would be"
                    + " \(key.text(of: new) ?? "not given")"
            )
        }
        var rest = new
        for key in HostKey.allCases { key.copy(from: old, to: &rest) }
        if rest != old { changes.append("another key of `host` has changed") }
        return changes
    }

    /// Changes of in-process plugins; their images cannot be unloaded from the daemon.
    private static func inProcessChanges(_ old: Manifest, _ new: Manifest) -> [String] {
        old.plugins.compactMap { before in
            guard before.isolation == .inProcess else { return nil }
            let name = before.name
            guard let after = new.plugins.first(where: { $0.name == name }) else {
                return "`plugins.\(name)` is loaded into the daemon and would be removed"
            }
            let isSame =
                PluginCode.plugin(before).isSame(as: .plugin(after))
                && old.key(of: before) == new.key(of: after)
            return isSame
                ? nil : "`plugins.\(name)` is loaded into the daemon and would be changed"
        }
    }

    /// Changes of the tasks whose requests live in the fleet: the daemon has adopted those of the tasks before.
    private static func fleetChanges(_ old: Manifest, _ new: Manifest) -> [String] {
        func tasks(_ manifest: Manifest) -> Set<String> {
            Set(manifest.tasks.filter(\.isInFleet).map(\.identifier.description))
        }
        return tasks(old).symmetricDifference(tasks(new)).sorted().map { task in
            let isNew = tasks(new).contains(task)
            return "the requests of `tasks.\(task)` would " + (isNew ? "move into" : "leave")
                + " the fleet"
        }
    }

    private static func otherChanges(_ old: Manifest, _ new: Manifest) -> [String] {
        var rest = new
        // The digest changes with every edit, so it is not compared.
        rest.digest = old.digest
        rest.host = old.host
        rest.plugins = old.plugins
        rest.functions = old.functions
        rest.signers = old.signers
        rest.tasks = old.tasks
        guard rest != old else { return [] }
        var changes: [String] = []
        if old.sessions != new.sessions { changes.append("`sessions` has changed") }
        if old.notifications != new.notifications {
            changes.append("`notifications` has changed")
        }
        return changes.isEmpty ? ["another section has changed"] : changes
    }
}

extension Manifest {
    /// The public key of the signer of a plugin.
    fileprivate func key(of plugin: PluginDefinition) -> String? {
        signers.first { $0.name == plugin.signedBy }?.key
    }
}
