// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostModel
internal import BghostServices
internal import BghostStore

/// Supervises the runs: assigns them to executors, enforces their deadlines, cancels and kills them, and
/// records how they end.
///
/// The host owns it. Use it on the reactor's thread only; it does not block. An event of a run costs
/// O(log n) in the armed deadlines.
final class RunSupervisor: SharesServices {
    let services: HostServices
    let runs: RunTable
    let plugins: PluginTable
    let dispatcher: Dispatcher
    let commits: CommitQueue
    let notifications: NotificationDelivery
    let transfers: TransferCoordinator
    let calls: PluginCalls
    /// The callers that wait for the end of a run.
    let waiters = RunWaiters()
    let meter: RunMeter
    let tracer: RunTracer
    @Connected var pool: WorkerPool
    @Connected var registry: PluginRegistry
    /// Claims starts of schedules; `nil` until the owners are connected.
    weak var fleet: FleetMember?
    /// Called when a run has ended.
    private(set) var onEnd: () -> Void = {}
    /// Called when a handler has started.
    var onStart: (RunRecord) -> Void = { _ in }
    /// The run numbers by the scheduler's tickets.
    var runNumbers = RunNumberTable()
    /// The number of runs that were asked to stop and have not ended.
    var runsBeingStopped = 0
    /// The details of runs that have just ended, until their ends are committed.
    var detailsOfEnded: [RunID: RunDetails] = [:]
    /// A buffer for the effects of one event, which is used again.
    var effects: [RunMachine.Effect] = []

    init(
        _ services: HostServices,
        _ runs: RunTable,
        _ plugins: PluginTable,
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ notifications: NotificationDelivery,
        _ transfers: TransferCoordinator,
        _ calls: PluginCalls
    ) {
        self.services = services
        self.runs = runs
        self.plugins = plugins
        self.dispatcher = dispatcher
        self.commits = commits
        self.notifications = notifications
        self.transfers = transfers
        self.calls = calls
        meter = RunMeter(dispatcher)
        tracer = calls.tracer
    }

    /// - Parameter onEnd: called when a run has ended.
    func connect(_ pool: WorkerPool, _ registry: PluginRegistry, onEnd: @escaping () -> Void) {
        self.pool = pool
        self.registry = registry
        self.onEnd = onEnd
    }

    /// Cancels a run as an operator; `false` without one.
    func stop(_ run: ActiveRun?) -> Bool {
        guard let run else { return false }
        handle(.stop(.user), of: run.number)
        return true
    }

    /// Whether the deadline of a run is the one that is armed.
    func isLive(_ number: UInt64, _ deadline: MonotonicInstant) -> Bool {
        runs.run(number)?.armed == deadline
    }
}
