// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostInspection
internal import BghostManifest
internal import BghostModel
internal import BghostSandbox
internal import BghostControl
internal import BghostPlugin
internal import BghostTerminal

/// Checks a manifest and its plugins, with the same code as the daemon's start.
///
/// It does not use the network and needs no daemon.
enum Checker {
    /// The result for one plugin or function.
    fileprivate struct Finding {
        var name: String
        var kind: String
        var detail: String
        var problem: String?
        /// A limitation on this machine: the plugin works, but not as the manifest specifies.
        var warning: String?
    }

    /// Prints the findings to the console.
    static func run(
        _ options: CheckOptions,
        _ console: Console
    ) async throws -> ExitStatus {
        // The owners of files on this machine say nothing about another one.
        let trustsFiles = options.allowsUntrustedFiles || options.ignoresEnvironment
        let reading = ManifestFiles.read(
            options.config,
            unresolvedSecrets: options.ignoresEnvironment ? .warning : .error,
            allowsUntrustedFiles: trustsFiles
        )
        let doubts = trustsFiles || reading.manifest == nil ? [] : reading.doubts(options.config)
        let shown =
            doubts
            + reading.diagnostics.filter {
                !(options.ignoresEnvironment && $0.severity == .warning
                    && $0.code == .unresolvedSecret)
            }
        var findings: [Finding] = []
        if let manifest = reading.manifest {
            findings = try await probe(manifest, reading.directory, options)
        }
        let errors = reading.errors + doubts.count + findings.count { $0.problem != nil }
        let warnings =
            shown.count { $0.severity == .warning } + findings.count { $0.warning != nil }
        if options.json {
            console.answer(
                json: json(options.config, reading.manifest, shown, findings, errors, warnings)
            )
        } else {
            show(options.config, reading, shown, findings, errors, warnings, console)
        }
        guard errors > 0 || warnings > 0 && options.deniesWarnings else { return .success }
        return reading.failureStatus
    }

    private static func probe(
        _ manifest: Manifest,
        _ directory: String,
        _ options: CheckOptions
    ) async throws -> [Finding] {
        let probe = PluginProbe(
            manifest,
            workerPath: try InstalledFiles.worker(),
            pluginPath: InstalledFiles.pluginPath(
                options.pluginPaths.map(ControlLocation.normalized)
            ),
            manifestDirectory: directory,
            allowsUntrustedFiles: options.allowsUntrustedFiles
        )
        var findings: [Finding] = []
        for plugin in manifest.plugins {
            let handlers = manifest.tasks.compactMap { task -> String? in
                guard case .plugin(plugin.name, let handler) = task.handler else { return nil }
                return handler
            }
            let told = manifest.sessions.filter { $0.plugin == plugin.name && $0.sendsLaunchEvents }
            var finding = Finding(
                plugin.name,
                "plugin",
                await probe.check(plugin, handlers: handlers + told.map(\.handler)).map(\.text)
            )
            if plugin.isolation == .worker {
                finding.warning = DescriptorLimit.warning(
                    plugin.limits,
                    slotCount: plugin.runsPerWorker
                )
            }
            findings.append(finding)
        }
        for function in manifest.functions {
            findings.append(Finding(function.name, "function", await probe.check(function)))
        }
        return findings
    }

    private static func show(
        _ config: String,
        _ reading: ManifestFiles.Reading,
        _ diagnostics: [Diagnostic],
        _ findings: [Finding],
        _ errors: Int,
        _ warnings: Int,
        _ console: Console
    ) {
        if let manifest = reading.manifest {
            var parts = [
                CountText.of(manifest.tasks.count, "task"),
                CountText.of(manifest.plugins.count, "plugin"),
                CountText.of(manifest.functions.count, "function"),
            ]
            if reading.dropIns > 0 { parts.append(CountText.of(reading.dropIns, "drop-in")) }
            console.answer(
                "\(console.out.painted(.good)) \(TerminalText.escaped(config))  "
                    + parts.joined(separator: ", ") + "\n"
            )
            console.answer(fleetNote(manifest))
        }
        for finding in findings {
            let mark = console.out.painted(finding.problem == nil ? Style.Mark.good : .bad)
            let text = TerminalText.escaped(finding.problem ?? finding.detail)
            console.answer("\(mark) \(finding.kind) \(finding.name)  \(text)\n")
            guard let warning = finding.warning else { continue }
            console.answer(
                "\(console.out.painted(Style.Mark.warning)) \(finding.kind) \(finding.name)  \(warning)\n"
            )
        }
        if !findings.isEmpty { LimitKeeper.here().show(console) }
        for diagnostic in diagnostics {
            console.answer(diagnostic.rendered(color: console.out.hasColor))
        }
        if errors + warnings > 0 {
            console.answer(
                "\(errors) error\(errors == 1 ? "" : "s"), \(warnings) warning\(warnings == 1 ? "" : "s")\n"
            )
        }
    }

    /// Where requests live that are not of this host alone; "" if all are.
    private static func fleetNote(_ manifest: Manifest) -> String {
        let names = manifest.tasks.filter(\.isInFleet).map(\.identifier.description).sorted()
        guard !names.isEmpty else { return "" }
        let shown = names.prefix(3).joined(separator: ", ")
        let more = names.count > 3 ? " and \(names.count - 3) more" : ""
        return TerminalText.escaped(
            "  in the fleet: requests of \(shown)\(more); of each host: its manual runs, pauses, budgets,"
                + " data directories, transfers and notifications"
        ) + "\n"
    }

    private static func json(
        _ config: String,
        _ manifest: Manifest?,
        _ diagnostics: [Diagnostic],
        _ findings: [Finding],
        _ errors: Int,
        _ warnings: Int
    ) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", "bghost.check/1")
            writer.member("manifest", config)
            writer.member("errors", errors)
            writer.member("warnings", warnings)
            writer.member("tasks", manifest?.tasks.count ?? 0)
            writer.member("diagnostics") { writer in
                writer.array { writer in
                    for diagnostic in diagnostics { writer.value(diagnostic) }
                }
            }
            writer.member("memory") { LimitKeeper.here().write(to: &$0) }
            writer.member("plugins") { writer in
                writer.array { writer in
                    for finding in findings {
                        writer.object { writer in
                            writer.member("name", finding.name)
                            writer.member("kind", finding.kind)
                            writer.member("detail", finding.detail)
                            writer.member("problem", finding.problem)
                            writer.member("warning", finding.warning)
                        }
                    }
                }
            }
        }
        return writer.text
    }
}

extension ManifestFiles.Reading {
    /// The diagnostic for a manifest that other users could change; empty if none could.
    fileprivate func doubts(_ config: String) -> [Diagnostic] {
        doubt().map { [.untrusted(file: config, reason: $0)] } ?? []
    }
}

extension Checker.Finding {
    fileprivate init(_ name: String, _ kind: String, _ result: Result<String, ProbeFailure>) {
        self.name = name
        self.kind = kind
        switch result {
        case .success(let detail): (self.detail, problem) = (detail, nil)
        case .failure(let failure): (detail, problem) = ("", failure.message)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func value(_ diagnostic: Diagnostic) {
        object { writer in
            writer.member("severity", diagnostic.severity.rawValue)
            writer.member("code", diagnostic.code.rawValue)
            writer.member("message", diagnostic.message)
            writer.member("file", diagnostic.location.file)
            writer.member("line", diagnostic.location.line)
            writer.member("column", diagnostic.location.column)
            writer.member("help", diagnostic.help)
        }
    }
}
