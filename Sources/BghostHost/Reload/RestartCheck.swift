// SPDX-License-Identifier: Apache-2.0

internal import BghostInspection
internal import BghostModel

/// Finds changes of a manifest that require a restart of the daemon.
enum RestartCheck {
    /// Descriptions of the changes that require a restart, each with its key.
    ///
    /// Changes of unknown sections are included, so that a reload never applies a new section only in part.
    static func changes(from old: Manifest, to new: Manifest) -> [String] {
        hostChanges(old.host, new.host) + inProcessChanges(old, new) + otherChanges(old, new)
    }

    private static func hostChanges(_ old: HostSettings, _ new: HostSettings) -> [String] {
        var changes: [String] = []
        if old.stateDirectory != new.stateDirectory {
            changes.append(
                "`host.stateDirectory` is \(text(old.stateDirectory)) and would be"
                    + " \(text(new.stateDirectory))"
            )
        }
        if old.controlSocket != new.controlSocket {
            changes.append(
                "`host.control` is \(text(old.controlSocket)) and would be"
                    + " \(text(new.controlSocket))"
            )
        }
        var rest = new
        rest.stateDirectory = old.stateDirectory
        rest.controlSocket = old.controlSocket
        rest.slots = old.slots
        rest.timeZone = old.timeZone
        rest.facts = old.facts
        if rest != old { changes.append("another key of `host` has changed") }
        return changes
    }

    private static func text(_ path: String?) -> String { path ?? "not given" }

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
        return [
            "a section other than `host`, `plugins`, `functions`, `signers` and `tasks` has changed"
        ]
    }
}

extension Manifest {
    /// The public key of the signer of a plugin.
    fileprivate func key(of plugin: PluginDefinition) -> String? {
        signers.first { $0.name == plugin.signedBy }?.key
    }
}
