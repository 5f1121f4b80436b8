// SPDX-License-Identifier: Apache-2.0

package import BghostAPI

/// The refusals of a reload.
extension OperatorRefusal {
    /// The refusal of a manifest with errors.
    ///
    /// - Parameter errors: a line each.
    package static func badManifest(_ errors: [String], path: String) -> OperatorRefusal {
        OperatorRefusal(
            .badManifest,
            "\(path) has \(errors.count) error\(errors.count == 1 ? "" : "s"); bghost goes on with the"
                + " manifest that it has",
            fix: "bghost check --config \(path)",
            candidates: Array(errors.prefix(errorsMax))
        )
    }

    /// The refusal of a manifest that other users could change.
    package static func untrusted(_ path: String, _ doubt: String) -> OperatorRefusal {
        OperatorRefusal(
            .badManifest,
            "\(path) is not to be trusted: \(doubt); bghost goes on with the manifest that"
                + " it has"
        )
    }

    /// The refusal of a manifest with plugins that cannot be loaded.
    package static func badPlugins(_ problems: [String], path: String) -> OperatorRefusal {
        OperatorRefusal(
            .badManifest,
            "\(problems.count) of the plugins of \(path) cannot be used; bghost goes on with the manifest"
                + " that it has",
            fix: "bghost check --config \(path)",
            candidates: problems
        )
    }

    /// The refusal of a reload by a daemon whose manifest has no file.
    package static var noManifestFile: OperatorRefusal {
        OperatorRefusal(.unavailable, "this bghost has no file to read its manifest from")
    }

    /// The refusal of changes that require a restart.
    package static func needsRestart(_ changes: [String], path: String) -> OperatorRefusal {
        OperatorRefusal(
            .needsRestart,
            "\(path) changes what needs a restart; bghost goes on with the manifest that it has",
            fix: "restart bghost, or take that back",
            candidates: changes
        )
    }

    /// The most errors that a refusal names.
    private static var errorsMax: Int { 20 }
}
