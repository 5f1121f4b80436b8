// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostHost
internal import BghostLinux
internal import BghostRecords
internal import Glibc

/// Shows what confines workers here, proved by a worker that tries to do what it must not.
package enum SandboxDoctor {
    /// Prints it to the console.
    ///
    /// - Parameters:
    ///   - config: the manifest that says what is required, as the user gave it.
    ///   - quarantined: plugins that a daemon does not run any more; `nil` if none answers.
    package static func run(
        config: String?,
        quarantined: [Quarantine]? = nil,
        json: Bool,
        _ console: Console
    ) async throws -> ExitStatus {
        let required = try required(config)
        let findings = try await findings()
        let holding = Set(findings.layers.filter { $0.state == .holds }.map(\.layer))
        let unmet = SandboxLayer.allCases.filter { required.contains($0) && !holding.contains($0) }
        if json {
            console.answer(json: describe(findings, required, unmet, quarantined))
        } else {
            show(findings, required, unmet, console)
            console.answer(
                "\(console.out.painted(groups.isHeld ? .good : .warning)) \(groups.text)\n"
            )
            for quarantine in quarantined ?? [] { show(quarantine, console) }
        }
        return unmet.isEmpty ? .success : .failure
    }

    private static func required(_ config: String?) throws -> Set<SandboxLayer> {
        guard let config else { return [] }
        let reading = ManifestFiles.read(config, unresolvedSecrets: .warning)
        guard let manifest = reading.manifest else {
            throw CommandFailure(
                .badManifest,
                "\(config) has errors, so it does not say what is required",
                fix: "see them with: bghost check --config \(config)"
            )
        }
        return manifest.plugins.reduce(manifest.host.require) { $0.union($1.require) }
    }

    private static func findings() async throws -> SandboxFindings {
        var template = Array("/var/tmp/bghost-doctor-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(
                .failure,
                "cannot make a folder in /var/tmp: \(String(cString: strerror(errno)))"
            )
        }
        let folder = String(
            decoding: template.dropLast().map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
        defer { rmdir(folder) }
        let probe = SandboxProbe(workerPath: try InstalledFiles.worker())
        switch await probe.findings(dataDirectory: folder) {
        case .success(let findings): return findings
        case .failure(let failure): throw CommandFailure(.failure, failure.message)
        }
    }

    /// Who sees to it that workers keep to their memory, threads and share of processors.
    private static var groups: (isHeld: Bool, text: String) {
        let found = ControlGroup.look()
        let controllers = found?.controllers ?? []
        let place = found.map { TerminalText.escaped($0.group) } ?? ""
        let fix =
            "; a unit with Delegate=yes, or a container with a group of its own, has the kernel do it"
        let processors =
            controllers.contains("cpu")
            ? "" : "; without a cpu controller no plugin with limits.cpuQuota is run"
        guard controllers.contains("memory") else {
            let reason =
                found == nil
                ? "there is no cgroup v2 here"
                : "cgroup v2 has no memory controller in \(place) (where v1 has it, boot with"
                    + " systemd.unified_cgroup_hierarchy=1)"
            return (
                false, "memory of workers is watched by bghost: \(reason)\(fix)\(processors)"
            )
        }
        return (
            true,
            "memory of workers can be held by the kernel (\(place)) for a bghost that has a group of"
                + " its own: Delegate=yes in its unit\(processors)"
        )
    }

    private static func show(
        _ findings: SandboxFindings,
        _ required: Set<SandboxLayer>,
        _ unmet: [SandboxLayer],
        _ console: Console
    ) {
        console.answer("what confines a worker here:\n")
        for standing in findings.layers {
            let isMissing = standing.state == .missing
            let mark: Style.Mark =
                isMissing ? (required.contains(standing.layer) ? .bad : .warning) : .good
            let name = standing.layer.rawValue.padding(to: 18)
            let need = required.contains(standing.layer) ? " (required)" : ""
            let detail = standing.detail.isEmpty ? "" : ": " + standing.detail
            console.answer(
                "\(console.out.painted(mark)) \(name) "
                    + TerminalText.escaped("\(standing.state.text)\(need)\(detail)") + "\n"
            )
        }
        console.answer("what a worker tried:\n")
        for trial in findings.trials {
            let mark: Style.Mark = trial.refusal == nil ? .warning : .good
            let text = "\(trial.name.padding(to: 30)) \(trial.refusal ?? "nothing stopped it")"
            console.answer("\(console.out.painted(mark)) \(TerminalText.escaped(text))\n")
        }
        if !unmet.isEmpty {
            let names = unmet.map(\.rawValue).joined(separator: ", ")
            console.answer(
                "\(console.out.painted(.bad)) the manifest requires what does not hold: \(names)\n"
            )
        }
    }

    private static func show(_ quarantine: Quarantine, _ console: Console) {
        let since = HumanText.time(quarantine.since, now: unixNow())
        let text =
            "plugin \(quarantine.plugin) has been quarantined since \(since): \(quarantine.reason);"
            + " lift it with: bghost enable \(quarantine.plugin)"
        console.answer("\(console.out.painted(.bad)) \(TerminalText.escaped(text))\n")
    }

    private static func describe(
        _ findings: SandboxFindings,
        _ required: Set<SandboxLayer>,
        _ unmet: [SandboxLayer],
        _ quarantined: [Quarantine]?
    ) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", "bghost.doctor/1")
            writer.member("layers") { writer in
                writer.array { writer in findings.layers.forEach { writer.value($0) } }
            }
            writer.member("trials") { writer in
                writer.array { writer in
                    for trial in findings.trials {
                        writer.object { writer in
                            writer.member("name", trial.name)
                            writer.member("stopped", trial.refusal != nil)
                            writer.member("refusal", trial.refusal)
                        }
                    }
                }
            }
            writer.member("controllers") { writer in
                writer.array { writer in
                    for name in ControlGroup.look()?.controllers.sorted() ?? [] {
                        writer.value(name)
                    }
                }
            }
            writer.member("required") { $0.layers(SandboxLayer.allCases.filter(required.contains)) }
            writer.member("unmet") { $0.layers(unmet) }
            writer.key("quarantined")
            guard let quarantined else { return writer.null() }
            writer.array { writer in
                for quarantine in quarantined {
                    writer.object { writer in
                        writer.member("plugin", quarantine.plugin)
                        writer.member("since", time: quarantine.since)
                        writer.member("reason", quarantine.reason)
                        writer.member("lift", "bghost enable \(quarantine.plugin)")
                    }
                }
            }
        }
        return writer.text
    }
}

extension JSONWriter {
    fileprivate mutating func layers(_ layers: [SandboxLayer]) {
        array { writer in layers.forEach { writer.value($0.rawValue) } }
    }
}
