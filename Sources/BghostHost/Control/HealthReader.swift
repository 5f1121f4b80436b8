// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostConfiguration
internal import BghostDispatch
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
        ReadinessReport(
            isDraining: dispatcher.scheduler.isDraining,
            commits.status,
            transfers.journalStatus
        )
    }

    /// All checks.
    nonisolated(nonsending) func health() async -> HealthReport {
        let found = await look()
        let folder = configuration.stateDirectory
        var checks = [
            HealthReport.Check("reactor", .ok, "the daemon's main thread answers"),
            .store(commits.status, in: folder),
            .drain(isDraining: dispatcher.scheduler.isDraining, runs: runs.count),
            .clock(dispatcher.scheduler.clockDoubt),
        ]
        if let journal = transfers.journalStatus {
            checks.insert(.transferJournal(journal, in: folder), at: 2)
        }
        if let manifest = found?.manifest { checks.append(manifest) }
        checks += pluginChecks
        if let disk = found?.disk { checks.append(disk) }
        if let log = configuration.log.healthCheck { checks.append(log) }
        checks += [fleet.check, fleet.partitions?.check].compactMap(\.self)
        if let alerts = alerts.check { checks.append(alerts) }
        return HealthReport(checks: checks)
    }

    private var pluginChecks: [HealthReport.Check] {
        let current = plugins.all.filter { !$0.isRetired }
        let unusable = current.filter { $0.problem != nil }
        guard !unusable.isEmpty else { return [.plugins(current.count)] }
        return unusable.map { plugin in
            .plugin(
                plugin.name,
                file: plugin.path ?? plugin.library,
                problem: plugin.problem?.message ?? "",
                crashes.quarantine(of: plugin.name)
            )
        }
    }

    /// Reads the manifest and the disk on a thread that may block.
    ///
    /// - Returns: `nil` if the machine has no thread for it.
    private nonisolated(nonsending) func look() async -> Findings? {
        guard let thread = threads.thread(for: .health) else { return nil }
        let (reread, current) = (configuration.rereadManifest, manifest.value)
        let (path, state) = (configuration.manifestPath, configuration.stateDirectory)
        return await withCheckedContinuation { continuation in
            thread.perform {
                let manifest = reread.map { reread in
                    let found = reread()
                    return HealthReport.Check.manifest(
                        found.manifest,
                        doubt: found.doubt,
                        against: current,
                        path: path
                    )
                }
                continuation.resume(returning: Findings(manifest: manifest, disk: .disk(state)))
            }
        }
    }
}
