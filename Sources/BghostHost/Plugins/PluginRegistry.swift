// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostInspection
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices

/// The plugins of the manifest: inspects and watches their files, and decides whether each may run.
///
/// A plugin with a problem starts no runs; its requests wait. The host owns this object. Use it on the
/// reactor's thread only; files are read by another thread.
final class PluginRegistry: SharesServices {
    let services: HostServices
    let plugins: PluginTable
    let dispatcher: Dispatcher
    let commits: CommitQueue
    /// Decides about pauses and quarantines of plugins that crash.
    let crashes: CrashRegistry
    let manifest: CurrentManifest
    @Connected var pool: WorkerPool
    @Connected var reloader: ManifestReloader
    @Connected var parameters: ParameterChecks
    @Connected var alerts: AlertOwners
    private(set) lazy var reference = ReactorReference(self, on: services.reactor)
    /// The inspection budgets by plugin name.
    var inspectionBudgets: [String: InspectionBudget] = [:]
    /// Watches the files of plugins; `nil` if the kernel cannot provide it.
    var libraryWatch: FileWatch?

    var isDraining: Bool { dispatcher.scheduler.isDraining }

    init(
        _ services: HostServices,
        _ plugins: PluginTable,
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ crashes: CrashRegistry,
        _ manifest: CurrentManifest
    ) {
        self.services = services
        self.plugins = plugins
        self.dispatcher = dispatcher
        self.commits = commits
        self.crashes = crashes
        self.manifest = manifest
    }

    func connect(
        _ pool: WorkerPool,
        _ reloader: ManifestReloader,
        _ checks: ParameterChecks,
        _ alerts: AlertOwners
    ) {
        parameters = checks
        self.pool = pool
        self.reloader = reloader
        self.alerts = alerts
    }

    /// Whether a deadline of a plugin is one of those that are armed.
    func isLive(_ index: Int, _ deadline: MonotonicInstant) -> Bool {
        let plugin = plugins[index]
        return plugin.problem?.retryAt == deadline || plugin.prestartAt == deadline
            || plugin.checkAt == deadline
    }
}
