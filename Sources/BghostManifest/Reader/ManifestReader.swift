// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFunctions
package import BghostModel

/// Reads `tasks.json` and its drop-ins, and reports all of their errors at once.
///
/// It opens no file and reads no clock: the caller passes the bytes, and closures supply secrets
/// and time zones.
package struct ManifestReader {
    private let manifestDirectory: String
    private let unresolvedSecrets: Diagnostic.Severity
    private let resolveSecret: (SecretReference) -> Result<String, SecretError>
    private let fileDoubt: (String) -> String?
    private let zones: ZoneSource
    private let signatureProblem: (String) -> String?
    private let parameterProblem: (String, String, Bool) -> String?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - manifestDirectory: the absolute path of the main file's folder, the base of relative
    ///     paths.
    ///   - unresolvedSecrets: the severity of a secret without a value: an error for the daemon, or
    ///     a warning for a check on another machine. The reference then stays in the text.
    ///   - resolveSecret: finds the value of a reference. Paths of files are absolute.
    ///   - fileDoubt: says which other user could change the file at an absolute path, which the
    ///     daemon is to run or to believe; `nil` if there is none. The default trusts all files.
    ///   - zones: supplies time zones.
    ///   - signatureProblem: says what is wrong with a function's signature; `nil` if nothing is
    ///     wrong.
    ///   - parameterProblem: says what is wrong with a task's parameters, given the signature of
    ///     its function and whether the parameters must be complete; `nil` if nothing is wrong.
    package init(
        manifestDirectory: String,
        unresolvedSecrets: Diagnostic.Severity = .error,
        resolveSecret: @escaping (SecretReference) -> Result<String, SecretError>,
        fileDoubt: @escaping (String) -> String? = { _ in nil },
        zones: ZoneSource,
        signatureProblem: @escaping (String) -> String? = FunctionSignature.problem(in:),
        parameterProblem: @escaping (String, String, Bool) -> String? = { _, _, _ in nil }
    ) {
        self.manifestDirectory = manifestDirectory
        self.unresolvedSecrets = unresolvedSecrets
        self.resolveSecret = resolveSecret
        self.fileDoubt = fileDoubt
        self.zones = zones
        self.signatureProblem = signatureProblem
        self.parameterProblem = parameterProblem
    }

    /// Reads the main file and merges the drop-ins into it in the bytewise order of their names.
    ///
    /// - Returns: the manifest, or `nil` if a diagnostic is an error; and the diagnostics in the
    ///   order of the files and of the places in them.
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
        // The definitions of an unreadable file are unknown, so the reader cannot report anything
        // as missing.
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
            let delivers = sources.lazy.compactMap { source in
                source.members.first { $0.key == "notifications" }?.value["task"]?.string
            }.first
            references.checkReceivers(delivers, sources[0])
        }
        let trust = FileTrust(collector: collector, doubt: fileDoubt)
        let builder = ManifestBuilder(
            collector: collector,
            manifestDirectory: manifestDirectory,
            zones: zones,
            trust: trust,
            expansion: { source in
                SecretExpansion(
                    source: source,
                    collector: collector,
                    trust: trust,
                    manifestDirectory: manifestDirectory,
                    unresolved: unresolvedSecrets,
                    resolve: resolveSecret
                )
            }
        )
        let host = builder.host(sources[0])
        let functionDefinitions = functions.map(builder.function)
        let check = TaskCheck(
            collector: collector,
            functions: Dictionary(functionDefinitions.map { ($0.name, $0) }) { first, _ in first },
            parameterProblem: parameterProblem
        )
        var manifest = Manifest(
            host: host,
            plugins: plugins.map(builder.plugin),
            functions: functionDefinitions,
            signers: signers.map(builder.signer),
            tasks: tasks.compactMap { entry in
                guard let task = builder.task(entry, host) else { return nil }
                check.check(task, entry)
                return task
            },
            sessions: sessions.map(builder.session),
            notifications: builder.notifications(sources)
        )
        func section(_ key: String, in sources: [ManifestSource]) -> JSONNode? {
            sources.lazy.compactMap { $0.members.first { $0.key == key }?.value }.first
        }
        manifest.written = WrittenDefinitions(
            [
                WrittenDefinition(.host, section: section("host", in: [sources[0]])),
                WrittenDefinition(.notifications, section: section("notifications", in: sources)),
            ] + plugins.map { WrittenDefinition(.plugin, $0) }
                + functions.map { WrittenDefinition(.function, $0) }
                + tasks.map { WrittenDefinition(.task, $0) }
                + signers.map { WrittenDefinition(.signer, $0) }
                + sessions.map { WrittenDefinition(.session, $0) }
        )
        return manifest
    }
}
