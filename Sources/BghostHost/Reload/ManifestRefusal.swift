// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
package import BghostManifest
package import BghostModel

/// The manifest as it is on the disk now.
package struct RereadManifest: Sendable {
    /// The manifest; `nil` if a diagnostic is an error.
    var manifest: Manifest?
    var diagnostics: [Diagnostic]
    /// The SHA-256 of the files as they were read, also of a wrong manifest; "" if one cannot be read.
    var digest: String
    /// Why the file is not trusted; `nil` if it is.
    var doubt: String?

    package init(
        manifest: Manifest?,
        diagnostics: [Diagnostic],
        digest: String = "",
        doubt: String? = nil
    ) {
        self.manifest = manifest
        self.diagnostics = diagnostics
        self.digest = digest
        self.doubt = doubt
    }
}

extension OperatorRefusal {
    /// The refusal of a manifest with errors.
    static func badManifest(_ diagnostics: [Diagnostic], path: String) -> OperatorRefusal {
        let errors = diagnostics.filter { $0.severity == .error }
        return OperatorRefusal(
            .badManifest,
            "\(path) has \(errors.count) error\(errors.count == 1 ? "" : "s"); bghost goes on with the"
                + " manifest that it has",
            fix: "bghost check --config \(path)",
            candidates: errors.prefix(diagnosticsMax).map(\.line)
        )
    }

    /// The refusal of a manifest that other users could change.
    static func untrusted(_ path: String, _ doubt: String) -> OperatorRefusal {
        OperatorRefusal(
            .badManifest,
            "\(path) is not to be trusted: \(doubt); bghost goes on with the manifest that"
                + " it has"
        )
    }

    /// The refusal of a manifest with plugins that cannot be loaded.
    static func badPlugins(_ problems: [String], path: String) -> OperatorRefusal {
        OperatorRefusal(
            .badManifest,
            "\(problems.count) of the plugins of \(path) cannot be used; bghost goes on with the manifest"
                + " that it has",
            fix: "bghost check --config \(path)",
            candidates: problems
        )
    }

    /// The refusal of a reload by a daemon whose manifest has no file.
    static var noManifestFile: OperatorRefusal {
        OperatorRefusal(.unavailable, "this bghost has no file to read its manifest from")
    }

    /// The refusal of changes that require a restart.
    static func needsRestart(_ changes: [String], path: String) -> OperatorRefusal {
        OperatorRefusal(
            .needsRestart,
            "\(path) changes what needs a restart; bghost goes on with the manifest that it has",
            fix: "restart bghost, or take that back",
            candidates: changes
        )
    }

    private static var diagnosticsMax: Int { 20 }
}

extension Diagnostic {
    /// The diagnostic and its location in one line.
    fileprivate var line: String {
        let place =
            location.line > 0
            ? "\(location.file):\(location.line):\(location.column)" : location.file
        return "\(place): \(message) [\(code.rawValue)]" + (label.map { "; \($0)" } ?? "")
            + (help.map { "; \($0)" } ?? "")
    }
}
