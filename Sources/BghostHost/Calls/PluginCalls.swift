// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostFacts
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore
internal import BghostTransfer
internal import BghostWire
internal import Glibc

/// Handles the calls of plugins to the daemon.
///
/// Each gets exactly one reply while its executor lives. The host owns it. Use it on the reactor's thread only; it does not block. What a call costs is bounded
/// by the size of its frame, and calls are limited in number and in rate.
final class PluginCalls {
    let dispatcher: Dispatcher
    let intake: RequestIntake
    let replies: CallReplies
    let executors: ExecutorTable
    let runs: RunTable
    let plugins: PluginTable
    let notifications: NotificationDelivery
    let log: HostLog
    let manifestPath: String
    let fetcher: any Fetching
    let checkpoints: CheckpointCommands
    let writable: () -> WritableTrees
    let zone: () -> ZoneTable
    let tracer: RunTracer
    private let transfers: TransferCoordinator
    private let facts: FactWatch
    let clock: DaemonClock
    private let reactor: Reactor
    private(set) lazy var reference = ReactorReference(self, on: reactor)

    /// - Parameters:
    ///   - writable: the folders that plugins may write.
    ///   - zone: the manifest's time zone.
    init(
        _ dispatcher: Dispatcher,
        _ intake: RequestIntake,
        _ replies: CallReplies,
        _ executors: ExecutorTable,
        _ runs: RunTable,
        _ plugins: PluginTable,
        _ notifications: NotificationDelivery,
        _ transfers: TransferCoordinator,
        _ facts: FactWatch,
        _ checkpoints: CheckpointCommands,
        _ clock: DaemonClock,
        reactor: Reactor,
        configuration: HostConfiguration,
        writable: @escaping () -> WritableTrees,
        zone: @escaping () -> ZoneTable
    ) {
        self.dispatcher = dispatcher
        self.intake = intake
        self.replies = replies
        self.executors = executors
        self.runs = runs
        self.plugins = plugins
        self.notifications = notifications
        self.transfers = transfers
        self.facts = facts
        self.checkpoints = checkpoints
        self.clock = clock
        self.reactor = reactor
        self.writable = writable
        self.zone = zone
        log = configuration.log
        manifestPath = configuration.manifestPath
        fetcher = configuration.fetcher
        tracer = RunTracer(configuration.spans)
    }

    /// Handles a call.
    ///
    /// - Throws: if only a faulty or hostile worker makes such a call.
    func called(_ call: Call, by executor: any RunExecutor) throws(WireError) {
        if call.run != 0, !call.operation.isSubmit {
            let slotIndex = WorkerSlot.of(call.run)
            guard slotIndex < executor.runOfSlot.count, executor.runOfSlot[slotIndex] == call.run
            else {
                throw .foreignRun
            }
            try runs.requireStarted(call.run, in: executor)
        }
        if case .transfer(.took(let wait)) = call.operation {
            return transfers.endWasTaken(wait, executor)
        }
        guard executor.openCalls < HostLimits.callsMax else { throw .tooManyCalls }
        guard try isWithinRate(executor, call) else { return }
        switch call.operation {
        case .submit(let task, let parameters, let kind, let earliest, let needs):
            submit(call, executor, task, parameters, kind, earliest, needs)
        case .cancelPending(let task): cancelPending(call, executor, task)
        case .cancelAllPending: cancelAllPending(call, executor)
        case .pending(let from): replyWithPending(call, executor, from: from)
        case .fetch(let fetch): beginFetch(call, executor, fetch)
        case .cancelFetch(let number):
            executor.fetches[number]?.task.cancel()
            replies.answer(call, executor, CallStatus.ok)
        case .situation(let run): answerSituation(call, executor, run)
        case .saveCheckpoint(let bytes): saveCheckpoint(call, executor, bytes)
        case .loadCheckpoint: loadCheckpoint(call, executor)
        case .post(let notification): post(call, executor, notification)
        case .withdrawNotification(let id): withdrawNotification(call, executor, id)
        case .notifications: answerNotifications(call, executor)
        case .transfer(let transfer): transfers.called(call, executor, transfer)
        }
    }

    /// Whether a call is within the rate limit of its plugin.
    ///
    /// An excess call is answered with `BG_E_LIMIT`, which is cheap; a flood of such calls is a
    /// protocol fault.
    private func isWithinRate(_ executor: any RunExecutor, _ call: Call) throws(WireError) -> Bool {
        switch executor.plugin.calls.record(now: clock.monotonic) {
        case .taken:
            let dropped = executor.plugin.calls.resetDropped()
            if dropped > 0 { logRefusedCalls(dropped, executor) }
            return true
        case .dropped:
            replies.answer(call, executor, CallStatus.limit)
            return false
        case .flood:
            logRefusedCalls(executor.plugin.calls.resetDropped(), executor)
            guard executor.isProcess else {
                replies.answer(call, executor, CallStatus.limit)
                return false
            }
            throw .flood
        }
    }

    private func logRefusedCalls(_ count: Int, _ executor: any RunExecutor) {
        log.write(
            .warning,
            "call.limit",
            "\(count) calls came faster than \(CallRateLimiter.perSecond) a second and were answered BG_E_LIMIT",
            plugin: executor.plugin.name
        )
    }

    /// Whether a plugin may submit a task: its own, or one that `permissions.submit` grants.
    private func mayUse(_ plugin: PluginSlot, _ task: String) -> Bool {
        guard let index = dispatcher.scheduler.catalog.task(for: task) else { return false }
        return dispatcher.scheduler.catalog.plugin(ofTask: index).name == plugin.name
            || plugin.permissions.submit.contains { $0.matches(task) }
    }

    // MARK: Requests

    private func submit(
        _ call: Call,
        _ executor: any RunExecutor,
        _ task: String,
        _ parameters: String,
        _ kind: UInt32,
        _ earliest: Int64,
        _ needs: UInt32
    ) {
        let shown = PrintableText.escaped(String(task.prefix(200)))
        guard mayUse(executor.plugin, task) else {
            replies.refuse(
                call,
                executor,
                CallStatus.permission,
                "plugin `\(executor.plugin.name)` may not submit `\(shown)`: grant it in"
                    + " `permissions.submit` of \(manifestPath)"
            )
            return
        }
        guard kind <= 2, earliest >= 0, earliest <= Int64.max / 1_000_000 else {
            replies.answer(call, executor, CallStatus.argument)
            return
        }
        guard let options = SubmissionOptions(needs: needs) else {
            replies.answer(call, executor, CallStatus.argument)
            return
        }
        if options.startsNow, let obstacle = dispatcher.scheduler.obstacleToStartNow(task) {
            return refuseNow(call, executor, task, obstacle)
        }
        let caller = caller(of: call, executor)
        let submission = Submission(
            task: task,
            kind: kind == 0 ? nil : kind == 1 ? .refresh : .processing,
            parameters: parameters.isEmpty ? "{}" : parameters,
            earliestBegin: earliest == 0 ? nil : earliest * 1_000_000,
            // A request that starts now or never waits for no other request's wake-up.
            tolerance: options.startsNow ? 0 : nil,
            onConflict: options.onConflict,
            requirements: options.requirements,
            trace: caller.trace
        )
        // The memory counts for the plugin that handles the task, which may be another plugin.
        let target = dispatcher.scheduler.catalog.task(for: task).map {
            plugins[dispatcher.scheduler.catalog.pluginOfTask[$0]]
        }
        let share = share(of: target ?? executor.plugin)
        guard share.reserve(Request.heldBytes(task: task, parameters: parameters)) else {
            return replies.refuse(
                call,
                executor,
                CallStatus.limit,
                "`\(shown)` is refused: bghost holds \(HostLimits.heldBytesMax >> 20) MiB for"
                    + " plugin `\((target ?? executor.plugin).name)`, the most that it may; wait until requests"
                    + " have run, or withdraw some"
            )
        }
        var steps = 0
        defer { executor.plugin.calls.charge(steps: steps) }
        do {
            try intake.checkParameters(of: submission, steps: &steps)
            let made = try intake.check(submission, by: caller.submitter)
            facts.watch(options.requirements)
            // With `keep`, the pending request stays, and nothing is stored.
            guard let made else { return replies.answer(call, executor, CallStatus.ok) }
            let isNow = options.startsNow
            store(made, for: call, of: executor, holding: share, target, startsNow: isNow)
        } catch {
            replies.refuse(call, executor, CallStatus.of(error.code), error.description)
        }
    }

    /// The submitter of a call, and its trace: the run that the call names, or the plugin if it names none.
    ///
    /// The run may have ended already, which is valid: a handler may submit on one thread and
    /// complete on another.
    private func caller(
        of call: Call,
        _ executor: any RunExecutor
    ) -> (submitter: Submitter, trace: TraceContext?) {
        let slotIndex = WorkerSlot.of(call.run)
        if call.run != 0, slotIndex < executor.runOfSlot.count {
            if executor.runOfSlot[slotIndex] == call.run, let run = runs.run(call.run) {
                return (.run(run.record.id), run.record.trace?.context)
            }
            if let past = executor.lastRunOfSlot[slotIndex], past.number == call.run {
                return (.run(past.id), past.trace)
            }
        }
        return (.plugin(executor.plugin.name), nil)
    }

    /// A new share of a plugin's held memory, after an update of the bytes of its requests and checkpoints.
    func share(of plugin: PluginSlot) -> HeldShare {
        // The tasks belong to the current version of the plugin.
        let index = (plugins[plugin.name] ?? plugin).index
        let requests = dispatcher.query { $0.heldBytes(plugin: index) }
        plugin.memory.setRequests(requests + checkpoints.bytes(ofPlugin: plugin.name))
        return HeldShare(of: plugin.memory)
    }

    /// Stores a plugin's request and answers the plugin afterwards.
    ///
    /// The request is stored even if its run or worker has ended in the meantime.
    private func store(
        _ accepted: AcceptedSubmission,
        for call: Call,
        of executor: any RunExecutor,
        holding share: HeldShare,
        _ target: PluginSlot?,
        startsNow: Bool
    ) {
        let serial = executor.serial
        let plugin = target?.name
        replies.open(executor)
        intake.store(accepted) { [unowned self] result in
            stored(result, call: call, serial: serial, nowOnly: startsNow ? accepted.request : nil)
            // The scheduler counts the request from now on.
            if let plugin = plugin.flatMap({ plugins[$0] }) { _ = self.share(of: plugin) }
            withExtendedLifetime(share) {}
        }
    }

    /// - Parameter request: the stored request if it must have started by now; otherwise `nil`.
    private func stored(
        _ result: Result<Void, StoreError>,
        call: Call,
        serial: UInt32,
        nowOnly request: Request?
    ) {
        let obstacle = request.flatMap { withdrawUnlessStarted($0) }
        guard let executor = replies.close(serial) else { return }
        switch result {
        case .success:
            guard let request, let obstacle else {
                return replies.answer(call, executor, CallStatus.ok)
            }
            refuseNow(call, executor, request.task, obstacle)
        case .failure: replies.answer(call, executor, CallStatus.failed)
        }
    }

    private func cancelPending(_ call: Call, _ executor: any RunExecutor, _ task: String) {
        guard mayUse(executor.plugin, task) else {
            replies.answer(call, executor, CallStatus.permission)
            return
        }
        let isWithdrawn =
            dispatcher.scheduler.catalog.isSubmittedByPlugins(task) && withdraw(task)
        replies.answer(call, executor, isWithdrawn ? CallStatus.ok : CallStatus.absent)
    }

    /// Withdraws all pending requests of a plugin, in pages between which deadlines come.
    ///
    /// The first page waits for its turn too: one packet of a worker can contain hundreds of these calls.
    private func cancelAllPending(_ call: Call, _ executor: any RunExecutor) {
        replies.open(executor)
        // Not its index, which may be that of another plugin in a later turn.
        let (plugin, serial) = (executor.plugin.name, executor.serial)
        reference.perform { $0.withdrawAll(ofPlugin: plugin, from: 0, call, serial) }
    }

    private func withdrawAll(
        ofPlugin plugin: String,
        from start: Int,
        _ call: Call,
        _ serial: UInt32
    ) {
        guard let index = plugins[plugin]?.index else { return withdrewAll(call, serial) }
        let (page, next, _) = dispatcher.scheduler.pending(ofPlugin: index, from: start)
        for (request, _) in page { withdraw(request.task) }
        guard let next else { return withdrewAll(call, serial) }
        reference.perform { $0.withdrawAll(ofPlugin: plugin, from: next, call, serial) }
    }

    private func withdrewAll(_ call: Call, _ serial: UInt32) {
        guard let executor = replies.close(serial) else { return }
        replies.answer(call, executor, CallStatus.ok)
    }

    @discardableResult
    func withdraw(_ identifier: String) -> Bool {
        dispatcher.decide { scheduler, now, effects in
            scheduler.withdraw(identifier, now: now, &effects)
        }
    }

    private func replyWithPending(_ call: Call, _ executor: any RunExecutor, from: UInt64) {
        let (page, next, visited) = dispatcher.scheduler.pending(
            ofPlugin: executor.plugin.index,
            from: Int(clamping: from)
        )
        executor.plugin.calls.charge(steps: visited)
        let entries = page.map { request, kind in
            PendingEntry(
                task: request.task,
                kind: kind.code,
                earliestUnixMilliseconds: (request.earliestBegin ?? 0) / 1_000_000,
                needs: request.requirements.needs
            )
        }
        replies.send(
            Reply(
                call: call.number,
                status: CallStatus.ok,
                body: .pending(entries, next: UInt64(clamping: next ?? 0))
            ),
            to: executor
        )
    }

    /// Cancels the fetches and waits of a run that has ended.
    func endCalls(of run: UInt64, in executor: any RunExecutor) {
        transfers.endWaits(of: run, in: executor)
        guard !executor.fetches.isEmpty else { return }
        for fetch in executor.fetches.values where fetch.run == run { fetch.task.cancel() }
    }
}
