// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostInspection
internal import BghostLinux
internal import BghostManifest
internal import BghostModel
internal import BghostTerminal
internal import Glibc

/// Reports which sandbox layers work on this machine, as tested by a worker that tries forbidden actions.
enum SandboxDoctor {
    /// Prints the report to the console.
    ///
    /// - Parameters:
    ///   - config: the path of the manifest with the required layers, as the user gave it.
    ///   - status: the status of the daemon; `nil` if none answers.
    ///   - fleet: the fleet of the daemon's host; `nil` if none answers.
    static func run(
        config: String?,
        status: HostStatus? = nil,
        fleet: FleetStatus? = nil,
        json: Bool,
        _ console: Console
    ) async throws -> ExitStatus {
        let required = try required(config)
        let findings = try await findings()
        let holding = Set(findings.layers.filter { $0.state == .holds }.map(\.layer))
        let unmet = SandboxLayer.allCases.filter { required.contains($0) && !holding.contains($0) }
        if json {
            console.answer(json: describe(findings, required, unmet, status, fleet))
        } else {
            show(findings, required, unmet, console)
            LimitKeeper.here().show(console)
            for quarantine in status?.quarantined ?? [] { show(quarantine, console) }
            if let store = status?.store { show(store, console) }
            if let journal = status?.transferJournal { show(journal, console) }
            if let fleet, !fleet.name.isEmpty { show(fleet, console) }
        }
        let failing = [status?.store.failingSince, status?.transferJournal?.failingSince]
        return unmet.isEmpty && failing.allSatisfy { $0 == nil } ? .success : .failure
    }

    private static func required(_ config: String?) throws -> Set<SandboxLayer> {
        guard let config else { return [] }
        let reading = ManifestFiles.read(config, unresolvedSecrets: .warning)
        guard let manifest = reading.manifest else { throw reading.failure }
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

    /// A note on the programs that a plugin can start although the manifest does not name them.
    private static func loaderText(_ findings: SandboxFindings) -> String {
        let mounts = findings.layers.first { $0.layer == .mounts }
        let programs =
            mounts?.state == .holds
            ? "those that lie among the libraries of /usr, such as /usr/lib/git-core"
            : "any program that the daemon's user can read, since `mounts` does not hold"
        return
            "not covered: a plugin with `limits.processes` above 1 and a granted folder can start, by way"
            + " of the dynamic loader, \(programs), confined as the plugin is"
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
            let name = DisplayWidth.padded(standing.layer.rawValue + " ", to: 18)
            let need = required.contains(standing.layer) ? " (required)" : ""
            let detail = standing.detail.isEmpty ? "" : ": " + standing.detail
            console.answer(
                "\(console.out.painted(mark)) \(name) "
                    + TerminalText.escaped("\(standing.state.text)\(need)\(detail)") + "\n"
            )
        }
        console.answer("\(console.out.painted(.warning)) \(loaderText(findings))\n")
        console.answer("what a worker tried:\n")
        for trial in findings.trials {
            let mark: Style.Mark = trial.refusal == nil ? .warning : .good
            let text =
                "\(DisplayWidth.padded(trial.name + " ", to: 30)) \(trial.refusal ?? "nothing stopped it")"
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
            "plugin \(quarantine.plugin) was quarantined \(since): \(quarantine.reason);"
            + " fix it, then `bghost enable \(quarantine.plugin)`"
        console.answer("\(console.out.painted(.bad)) \(TerminalText.escaped(text))\n")
    }

    private static func show(_ store: StoreStatus, _ console: Console) {
        let mark: Style.Mark = store.failingSince == nil ? .good : .bad
        let text =
            store.failingSince.map { store.sentence(since: HumanText.time($0, now: unixNow())) }
            ?? "the daemon's store keeps what it is given"
        console.answer("\(console.out.painted(mark)) \(TerminalText.escaped(text))\n")
    }

    private static func show(_ journal: TransferJournalStatus, _ console: Console) {
        let mark: Style.Mark = journal.failingSince == nil ? .good : .bad
        let text =
            journal.failingSince.map {
                journal.sentence(since: HumanText.time($0, now: unixNow()))
            } ?? "the daemon's journal of transfers keeps what it is given"
        console.answer("\(console.out.painted(mark)) \(TerminalText.escaped(text))\n")
    }

    private static func show(_ fleet: FleetStatus, _ console: Console) {
        let mark: Style.Mark = fleet.needsAttention ? .bad : .good
        let live = fleet.hosts.count { $0.leaseLeft > 0 }
        let problems = fleet.findings.count { $0.isProblem }
        let others =
            problems == 0
            ? "" : "; \(CountText.of(problems, "problem")): see `bghost fleet doctor`"
        let text =
            fleet.validFor == 0
            ? "\(fleet.name) has no valid lease in its fleet: \(fleet.problem)"
            : !fleet.partitionsProblem.isEmpty
                ? "\(fleet.name): \(fleet.partitionsProblem)"
                : "\(fleet.name) has a valid lease in its fleet, as one of"
                    + " \(CountText.of(live, "live host"))" + others
        console.answer("\(console.out.painted(mark)) \(TerminalText.escaped(text))\n")
    }

    private static func describe(
        _ findings: SandboxFindings,
        _ required: Set<SandboxLayer>,
        _ unmet: [SandboxLayer],
        _ status: HostStatus?,
        _ fleet: FleetStatus?
    ) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", "bghost.doctor/1")
            writer.member("layers") { writer in
                writer.raw(APICoder.text(findings.layers.map(API.Layer.init)))
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
            writer.member("uncovered") { writer in
                writer.array { $0.value(loaderText(findings)) }
            }
            writer.member("memory") { LimitKeeper.here().write(to: &$0) }
            writer.member("controllers") { writer in
                writer.array { writer in
                    for name in ControlGroup.detect()?.controllers.sorted() ?? [] {
                        writer.value(name)
                    }
                }
            }
            writer.member("required") { $0.layers(SandboxLayer.allCases.filter(required.contains)) }
            writer.member("unmet") { $0.layers(unmet) }
            writer.key("store")
            if let store = status?.store {
                writer.raw(APICoder.text(store))
            } else {
                writer.null()
            }
            writer.key("transferJournal")
            if let journal = status?.transferJournal {
                writer.raw(APICoder.text(journal))
            } else {
                writer.null()
            }
            writer.key("fleet")
            if let fleet { writer.raw(APICoder.text(API.Fleet(fleet))) } else { writer.null() }
            writer.key("quarantined")
            guard let quarantined = status?.quarantined else { return writer.null() }
            writer.array { writer in
                for quarantine in quarantined {
                    writer.object { writer in
                        writer.member("plugin", quarantine.plugin)
                        writer.member("since", Timestamp.text(unixNanoseconds: quarantine.since))
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

extension HostStatus {
    fileprivate var quarantined: [Quarantine] { plugins.compactMap(\.quarantine) }
}
