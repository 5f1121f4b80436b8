// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// A manifest as it is on the disk now.
package struct RereadManifest: Sendable {
    /// `nil` if a diagnostic is an error.
    package var manifest: Manifest?
    package var diagnostics: [Diagnostic]
    /// Why its file is not to be trusted; `nil` if nothing speaks against it.
    package var doubt: String?

    package init(manifest: Manifest?, diagnostics: [Diagnostic], doubt: String? = nil) {
        self.manifest = manifest
        self.diagnostics = diagnostics
        self.doubt = doubt
    }
}

extension OperatorRefusal {
    /// A manifest with errors.
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

    /// A manifest that others could change.
    static func untrusted(_ path: String, _ doubt: String) -> OperatorRefusal {
        OperatorRefusal(
            .badManifest,
            "\(path) is not to be trusted: \(doubt); bghost goes on with the manifest that"
                + " it has"
        )
    }

    /// Plugins that cannot be loaded.
    static func badPlugins(_ problems: [String], path: String) -> OperatorRefusal {
        OperatorRefusal(
            .badManifest,
            "\(problems.count) of the plugins of \(path) cannot be used; bghost goes on with the manifest"
                + " that it has",
            fix: "bghost check --config \(path)",
            candidates: problems
        )
    }

    /// Changes that only a restart can make.
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
    /// What is wrong and where, in one line.
    fileprivate var line: String {
        let place =
            location.line > 0
            ? "\(location.file):\(location.line):\(location.column)" : location.file
        return "\(place): \(message) [\(code.rawValue)]" + (label.map { "; \($0)" } ?? "")
            + (help.map { "; \($0)" } ?? "")
    }
}
