// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostInspection
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostWire
internal import BghostTransferBridge

/// The executors of all plugins: starts workers, reuses them, reads their messages, enforces their limits
/// and ends them.
///
/// The host owns it. Use it on the reactor's thread only; other threads do what may block. All input
/// from a worker is untrusted.
final class WorkerPool: SharesServices {
    let services: HostServices
    let executors: ExecutorTable
    let runs: RunTable
    let plugins: PluginTable
    let dispatcher: Dispatcher
    let commits: CommitQueue
    let crashes: CrashRegistry
    let dataDirectories: DataDirectories
    let replies: CallReplies
    let calls: PluginCalls
    let manifest: CurrentManifest
    /// The worker processes, for other threads.
    let family: ProcessFamily
    /// The control group of the workers; `nil` if none is delegated to the daemon.
    let controlGroup: ControlGroup?
    let digests = LibraryDigests()
    @Connected var supervisor: RunSupervisor
    @Connected var registry: PluginRegistry
    /// Called when an executor has ended.
    private(set) var onEnd: () -> Void = {}
    private(set) lazy var reference = ReactorReference(self, on: services.reactor)
    /// The number of workers that may have started processes.
    var workersWithTrees = 0
    /// The workers with frames that are sent at the end of the turn.
    var dirty: [Worker] = []
    var placement = Placement()
    /// The buffer for received packets.
    let packet = UnsafeMutableRawBufferPointer.allocate(
        byteCount: FrameLayout.packetBytesMax,
        alignment: 16
    )
    /// The buffer for output; a pipe holds no more, so one read empties it.
    ///
    /// It is separate from `packet`, which may contain unread frames.
    let printed = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    var isDraining: Bool { dispatcher.scheduler.isDraining }

    init(
        _ services: HostServices,
        _ executors: ExecutorTable,
        _ runs: RunTable,
        _ plugins: PluginTable,
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ crashes: CrashRegistry,
        _ dataDirectories: DataDirectories,
        _ replies: CallReplies,
        _ calls: PluginCalls,
        _ manifest: CurrentManifest,
        _ family: ProcessFamily,
        controlGroup: ControlGroup?
    ) {
        self.services = services
        self.executors = executors
        self.runs = runs
        self.plugins = plugins
        self.dispatcher = dispatcher
        self.commits = commits
        self.crashes = crashes
        self.dataDirectories = dataDirectories
        self.replies = replies
        self.calls = calls
        self.manifest = manifest
        self.family = family
        self.controlGroup = controlGroup
    }

    deinit {
        packet.deallocate()
        printed.deallocate()
    }

    /// - Parameter onEnd: called when an executor has ended.
    func connect(
        _ supervisor: RunSupervisor,
        _ registry: PluginRegistry,
        onEnd: @escaping () -> Void
    ) {
        self.supervisor = supervisor
        self.registry = registry
        self.onEnd = onEnd
        replies.begin { [unowned self] in sendReply($0, to: $1, holding: $2) }
    }

    /// Whether a deadline of an executor or of the placement is the one that is armed.
    func isLive(_ token: TimerToken, _ deadline: MonotonicInstant) -> Bool {
        switch token {
        case .executor(let serial): executors[serial]?.deadline == deadline
        case .audit(let serial): executors.worker(serial)?.audit == deadline
        case .explain(let serial): executors.worker(serial)?.explainAt == deadline
        case .placement: deadline == placement.due
        default: false
        }
    }

    /// Whether the kernel can enforce CPU quotas of workers.
    var holdsQuotas: Bool { controlGroup?.controllers.contains("cpu") ?? false }

    /// Logs whether the kernel or the daemon enforces the limits of workers.
    func logLimits() {
        let held = controlGroup?.controllers.sorted() ?? []
        log.write(
            .info,
            "host.limits",
            held.isEmpty
                ? "no controllers of cgroup v2 are delegated: bghost watches the memory of workers and of"
                    + " what they start itself, and refuses them shared memory"
                : "the kernel holds workers to their limits of \(held.joined(separator: " and "))"
        )
    }

    /// The number of executors with a completed run that the handler has not released.
    var executorsWithUnreleasedRuns: Int { executors.all.count { $0.unreleased > 0 } }

    /// The process IDs of all workers by plugin, including those of previous versions that still drain.
    var pidsByPlugin: [String: [Int32]] {
        var workers: [String: [Int32]] = [:]
        for executor in executors.all {
            if let pid = executor.pid { workers[executor.plugin.name, default: []].append(pid) }
        }
        return workers
    }
}
