// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostDispatch
internal import BghostFacts
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices

/// Checks the health of the daemon, for operators and for probes of other programs.
///
/// The host owns it. Use it on the reactor's thread only; another thread reads the disk. It changes nothing.
/// It costs O(n) in the plugins.
final class HealthReader {
    /// What the disk says.
    private struct Findings: Sendable {
        var manifest: HealthReport.Check?
        var disk: HealthReport.Check
    }

    private let configuration: HostConfiguration
    private let threads: BlockingThreads
    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let plugins: PluginTable
    private let crashes: CrashRegistry
    private let manifest: CurrentManifest
    private let runs: RunTable
    private let alerts: AlertMonitor
    private let fleet: FleetMember
    private let transfers: TransferCoordinator

    init(_ owners: HostOwners) {
        configuration = owners.services.configuration
        threads = owners.services.threads
        dispatcher = owners.dispatcher
        commits = owners.commits
        plugins = owners.plugins
        crashes = owners.registry.crashes
        manifest = owners.manifest
        runs = owners.runs
        alerts = owners.alerts.monitor
        fleet = owners.fleet
        transfers = owners.transfers
    }

    /// Whether the daemon accepts work and keeps it.
    var readiness: ReadinessReport {
        var reasons: [ReadinessReport.Reason] = []
        if dispatcher.scheduler.isDraining {
            reasons.append(.init("stopping", "bghost is stopping"))
        }
        let store = commits.status
        if let since = store.failingSince {
            let moment = Timestamp.text(unixNanoseconds: since)
            reasons.append(.init("store", since: since, store.sentence(since: moment)))
        }
        if let journal = transfers.journalStatus, let since = journal.failingSince {
            let moment = Timestamp.text(unixNanoseconds: since)
            reasons.append(.init("transferJournal", since: since, journal.sentence(since: moment)))
        }
        return ReadinessReport(reasons: reasons)
    }

    /// All checks.
    nonisolated(nonsending) func health() async -> HealthReport {
        let found = await look()
        var checks = [
            HealthReport.Check("reactor", .ok, "the daemon's main thread answers"), store, drain,
            clock,
        ]
        if let transferJournal { checks.insert(transferJournal, at: 2) }
        if let manifest = found?.manifest { checks.append(manifest) }
        checks += pluginChecks
        if let disk = found?.disk { checks.append(disk) }
        if let log = configuration.log.healthCheck { checks.append(log) }
        if let fleet = fleet.check { checks.append(fleet) }
        if let alerts = alerts.check { checks.append(alerts) }
        return HealthReport(checks: checks)
    }

    // MARK: What the daemon knows

    private var store: HealthReport.Check {
        let status = commits.status
        guard let since = status.failingSince else {
            return .init("store", .ok, "transactions are stored")
        }
        return .init(
            "store",
            .critical,
            since: since,
            status.sentence(since: Timestamp.text(unixNanoseconds: since)),
            remedy: diskRemedy(status.isFinal)
        )
    }

    private var transferJournal: HealthReport.Check? {
        guard let status = transfers.journalStatus else { return nil }
        guard let since = status.failingSince else {
            return .init("transferJournal", .ok, "transfers are stored")
        }
        return .init(
            "transferJournal",
            .critical,
            since: since,
            status.sentence(since: Timestamp.text(unixNanoseconds: since)),
            remedy: diskRemedy(status.isFinal)
        )
    }

    private func diskRemedy(_ needsRestart: Bool) -> String {
        "repair the disk of \(configuration.stateDirectory) or make room on it"
            + (needsRestart ? ", then restart bghost" : "")
    }

    private var drain: HealthReport.Check {
        guard dispatcher.scheduler.isDraining else {
            return .init("drain", .ok, "bghost accepts work")
        }
        return .init(
            "drain",
            .warning,
            "bghost is stopping; \(CountText.of(runs.count, "run")) in progress"
        )
    }

    private var clock: HealthReport.Check {
        guard let doubt = dispatcher.scheduler.clockDoubt else {
            return .init("clock", .ok, "the wall clock is trusted")
        }
        return .init(
            "clock",
            .warning,
            "\(doubt.sentence); calendars wait for it",
            remedy: "start a time service, or set the clock"
        )
    }

    private var pluginChecks: [HealthReport.Check] {
        let current = plugins.all.filter { !$0.isRetired }
        let unusable = current.filter { $0.problem != nil }
        guard !unusable.isEmpty else {
            let count = current.count
            return [
                .init(
                    "plugins",
                    .ok,
                    count == 0 ? "no plugin" : CountText.of(count, "plugin") + " can be used"
                )
            ]
        }
        return unusable.map { plugin in
            let quarantine = crashes.quarantine(of: plugin.name)
            let problem = plugin.problem?.message ?? ""
            return .init(
                "plugin",
                .warning,
                since: quarantine?.since,
                quarantine == nil
                    ? "plugin \(plugin.name) cannot be used: \(problem)"
                    : "plugin \(plugin.name) is quarantined: \(problem)",
                remedy: quarantine == nil
                    ? "bghost plugin inspect \(plugin.path ?? plugin.library)"
                    : "repair it, then `bghost enable \(plugin.name)`"
            )
        }
    }

    // MARK: What the disk says

    /// - Returns: `nil` if the machine has no thread for it.
    private nonisolated(nonsending) func look() async -> Findings? {
        guard let thread = threads.thread(for: .health) else { return nil }
        let (reread, current) = (configuration.rereadManifest, manifest.value)
        let (path, state) = (configuration.manifestPath, configuration.stateDirectory)
        return await withCheckedContinuation { continuation in
            thread.perform {
                continuation.resume(
                    returning: Findings(
                        manifest: reread.map { Self.check($0(), against: current, path: path) },
                        disk: Self.disk(state)
                    )
                )
            }
        }
    }

    private static func check(
        _ found: RereadManifest,
        against current: Manifest,
        path: String
    ) -> HealthReport.Check {
        if let doubt = found.doubt {
            return .init(
                "manifest",
                .warning,
                "\(path) is not trusted, and a restart would fail: \(doubt)",
                remedy: "correct the permissions of the file and its folders"
            )
        }
        guard var manifest = found.manifest else {
            return .init(
                "manifest",
                .warning,
                "\(path) has errors, and a restart would fail",
                remedy: "bghost check --config \(path)"
            )
        }
        // Comments and spaces do not matter.
        manifest.digest = current.digest
        guard manifest == current else {
            return .init(
                "manifest",
                .warning,
                "\(path) differs from the manifest in force",
                remedy: "bghost reload"
            )
        }
        return .init("manifest", .ok, "\(path) is in force")
    }

    private static func disk(_ folder: String) -> HealthReport.Check {
        let reading = FreeSpace.read(folder)
        let text = "\(reading.text) at \(folder)"
        switch reading.measure.isEnough {
        case true?: return .init("disk", .ok, text)
        case false?:
            return .init(
                "disk",
                .warning,
                text,
                remedy: RequirementSet.storage.remedy(name: "storage")
            )
        case nil: return .init("disk", .warning, text)
        }
    }
}
