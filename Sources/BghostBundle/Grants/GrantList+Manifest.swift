// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostManifest
package import BghostModel

extension GrantList {
    /// The definitions that the grants make, read by the rules of manifests.
    ///
    /// - Parameter zones: the time zones of the system.
    /// - Throws: what a manifest with them would be refused for.
    package func manifest(_ zones: ZoneSource) throws(BundleError) -> Manifest {
        var plugin = plugin.object ?? []
        plugin.append(JSONMember(key: "library", value: JSONNode(.string("/plugin.so"))))
        let root = JSONNode(
            .object([
                JSONMember(key: "version", value: JSONNode(.number("1"))),
                JSONMember(
                    key: "plugins",
                    value: JSONNode(
                        .object([JSONMember(key: name, value: JSONNode(.object(plugin)))])
                    )
                ),
                JSONMember(key: "tasks", value: ofPlugin(tasks)),
                JSONMember(key: "sessions", value: ofPlugin(sessions)),
            ])
        )
        let reader = ManifestReader(
            manifestDirectory: "/",
            resolveSecret: { _ in .failure(SecretError("a bundle has no secrets")) },
            zones: zones
        )
        let (manifest, diagnostics) = reader.read(
            ManifestFile(name: "bundle.json", bytes: Array(root.text.utf8))
        )
        let errors = diagnostics.filter { $0.severity == .error }
        guard let manifest else {
            let first = errors.first
            throw BundleError(
                "the bundle asks for what a manifest cannot have: \(first?.message ?? "")"
                    + (errors.count > 1 ? ", and \(errors.count - 1) more" : ""),
                fix: [first?.help, first?.label].compactMap(\.self).first
                    ?? "correct it and pack it again"
            )
        }
        return manifest
    }

    /// Entries of `tasks` or `sessions`, each with its plugin.
    func ofPlugin(_ entries: JSONNode) -> JSONNode {
        let owner = JSONMember(key: "plugin", value: JSONNode(.string(name)))
        return JSONNode(
            .object(
                (entries.object ?? []).map { entry in
                    JSONMember(
                        key: entry.key,
                        value: JSONNode(.object([owner] + (entry.value.object ?? [])))
                    )
                }
            )
        )
    }
}
