// SPDX-License-Identifier: Apache-2.0

/// Reads `tasks.json` and its drop-ins, and says everything that is wrong with them at once.
///
/// It opens no file and asks no clock: bytes come in, and values from outside through a closure.
package struct ManifestReader {
    private let manifestDirectory: String
    private let unresolvedSecrets: Diagnostic.Severity
    private let resolveSecret: (SecretReference) -> Result<String, SecretError>
    private let zones: ZoneSource
    private let signatureProblem: (String) -> String?

    /// Prepares a reader.
    ///
    /// - Parameters:
    ///   - manifestDirectory: The absolute path of the main file's folder, from which relative paths
    ///     count.
    ///   - unresolvedSecrets: Whether a secret without a value is an error, as for the daemon, or a
    ///     warning, as for a check on another machine. The reference then stays in its place.
    ///   - resolveSecret: Finds the value of a reference. Paths of files are absolute.
    ///   - zones: Finds time zones.
    ///   - signatureProblem: What is wrong with a function's signature; `nil` if nothing is.
    package init(
        manifestDirectory: String,
        unresolvedSecrets: Diagnostic.Severity = .error,
        resolveSecret: @escaping (SecretReference) -> Result<String, SecretError>,
        zones: ZoneSource,
        signatureProblem: @escaping (String) -> String? = FunctionSignature.problem(in:)
    ) {
        self.manifestDirectory = manifestDirectory
        self.unresolvedSecrets = unresolvedSecrets
        self.resolveSecret = resolveSecret
        self.zones = zones
        self.signatureProblem = signatureProblem
    }

    /// Reads the main file and lays the drop-ins over it in the bytewise order of their names.
    ///
    /// - Returns: The manifest, or `nil` if a diagnostic is an error; the diagnostics in the order
    ///   of the files and of the places in them.
    package func read(
        _ main: ManifestFile,
        dropIns: [ManifestFile] = []
    ) -> (manifest: Manifest?, diagnostics: [Diagnostic]) {
        let collector = DiagnosticCollector()
        let ordered = dropIns.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let sources = ([main] + ordered).enumerated().map {
            ManifestSource($0.element, index: $0.offset, reportingTo: collector)
        }
        for source in sources where source.isReadable {
            StructureCheck(
                source: source,
                collector: collector,
                signatureProblem: signatureProblem
            ).checkFile()
        }
        let manifest = combine(sources, collector)
        return (collector.hasErrors ? nil : manifest, collector.finish())
    }

    private func combine(
        _ sources: [ManifestSource],
        _ collector: DiagnosticCollector
    ) -> Manifest {
        let merge = DefinitionMerge(sources: sources, collector: collector)
        let plugins = merge.entries("plugins", noun: "plugin")
        let functions = merge.entries("functions", noun: "function")
        let signers = merge.entries("signers", noun: "signer")
        let tasks = merge.entries("tasks", noun: "task")
        let sessions = merge.entries("sessions", noun: "session")
        // What an unreadable file defines is not known, so nothing can be said to be missing.
        if sources.allSatisfy(\.isReadable) {
            let references = ReferenceCheck(
                plugins: plugins,
                functions: functions,
                signers: signers,
                tasks: tasks,
                sessions: sessions,
                collector: collector
            )
            references.check()
            references.checkNotifications(sources)
        }
        let builder = ManifestBuilder(
            collector: collector,
            manifestDirectory: manifestDirectory,
            zones: zones,
            expansion: { source in
                SecretExpansion(
                    source: source,
                    collector: collector,
                    manifestDirectory: manifestDirectory,
                    unresolved: unresolvedSecrets,
                    resolve: resolveSecret
                )
            }
        )
        let host = builder.host(sources[0])
        return Manifest(
            host: host,
            plugins: plugins.map(builder.plugin),
            functions: functions.map(builder.function),
            signers: signers.map(builder.signer),
            tasks: tasks.compactMap { builder.task($0, host) },
            sessions: sessions.map(builder.session),
            notifications: builder.notifications(sources)
        )
    }
}
