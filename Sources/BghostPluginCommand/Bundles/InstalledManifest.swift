// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBundle
internal import BghostManifest
internal import BghostModel

/// The manifest into which bundles are installed.
enum InstalledManifest {
    /// Reads a manifest without errors.
    ///
    /// - Parameter changes: drop-ins by name that are to be read otherwise than they are.
    static func read(
        _ config: String,
        changes: [String: [UInt8]?] = [:],
        refusal: String = "the manifest has errors"
    ) throws(CommandFailure) -> Manifest {
        // Secrets are in the daemon's environment, which may be another one.
        let reading = ManifestFiles.read(config, unresolvedSecrets: .warning, changes: changes)
        guard let manifest = reading.manifest, reading.errors == 0 else {
            let errors = reading.diagnostics.filter { $0.severity == .error }
            throw CommandFailure(
                reading.failureStatus,
                refusal,
                fix:
                    "`bghost check --config \(TerminalText.escaped(config))` shows the manifest as it"
                    + " is; nothing was changed",
                candidates: errors.prefix(20).map { line($0) }
            )
        }
        return manifest
    }

    private static func line(_ diagnostic: Diagnostic) -> String {
        let place = diagnostic.location
        return TerminalText.escaped(
            "\(place.file):\(place.line):\(place.column): \(diagnostic.message)"
        )
    }

    /// The folders beside a manifest.
    static func configuration(
        _ config: String,
        plugins: String?
    ) -> Configuration {
        Configuration(directory: ManifestFiles.directory(of: config), pluginsFolder: plugins)
    }
}
