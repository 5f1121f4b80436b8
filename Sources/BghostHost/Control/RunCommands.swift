// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostDispatch
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore

/// The operator's commands that start, await, stop and list runs.
///
/// The host owns it. Use it on the reactor's thread only; another thread reads the store.
final class RunCommands {
    private let intake: RequestIntake
    private let describer: RequestDescriber
    private let registry: PluginRegistry
    private let plugins: PluginTable
    private let supervisor: RunSupervisor
    private let runs: RunTable
    private let waiters: RunWaiters
    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let history: HistoryReader
    private let clock: DaemonClock
    private let reactor: Reactor
    private lazy var reference = ReactorReference(self, on: reactor)

    init(
        _ intake: RequestIntake,
        _ describer: RequestDescriber,
        _ registry: PluginRegistry,
        _ supervisor: RunSupervisor,
        _ history: HistoryReader
    ) {
        self.intake = intake
        self.describer = describer
        self.registry = registry
        self.supervisor = supervisor
        self.history = history
        plugins = registry.plugins
        dispatcher = registry.dispatcher
        commits = registry.commits
        runs = supervisor.runs
        waiters = supervisor.waiters
        clock = supervisor.services.clock
        reactor = supervisor.services.reactor
    }

    nonisolated(nonsending) func submit(_ submission: Submission) async throws(SubmitError)
        -> PendingRequest
    {
        guard !submission.ignoresRequirements else {
            throw SubmitError(
                .badParameters,
                "only a triggered run can ignore what its task requires; use `bghost trigger"
                    + " --ignore-requirements`"
            )
        }
        return describer.describe(try await intake.submit(submission, isManual: false))
    }

    nonisolated(nonsending) func trigger(_ submission: Submission) async throws(SubmitError)
        -> PendingRequest
    {
        if let task = dispatcher.scheduler.catalog.task(for: submission.task) {
            await registry.revalidate(plugins[dispatcher.scheduler.catalog.pluginOfTask[task]])
        }
        // A reload may have replaced the plugin in the meantime.
        if let task = dispatcher.scheduler.catalog.task(for: submission.task) {
            let plugin = plugins[dispatcher.scheduler.catalog.pluginOfTask[task]]
            // `take` refuses a request for a plugin that is switched off.
            if dispatcher.scheduler.disabledReason(plugin: plugin.index) == nil,
                let problem = plugin.problem,
                !problem.isPause
            {
                throw SubmitError(.unavailable, problem.message)
            }
        }
        return describer.describe(try await intake.submit(submission, isManual: true))
    }

    /// Waits for the end of a request's run; cancel it with ``stopWaiting(_:ofRequest:)``.
    ///
    /// The caller handles cancellation itself: a closure here would not run on the caller's executor.
    ///
    /// - Parameter waiter: from ``makeWaiter()``.
    /// - Returns: `nil` if there is no such run, or the wait was cancelled.
    nonisolated(nonsending) func waitForRun(
        ofRequest id: RunID,
        _ waiter: UInt64
    ) async -> RunRecord? {
        await withCheckedContinuation { continuation in
            guard !Task.isCancelled else { return continuation.resume(returning: nil) }
            // Register before the query; otherwise the run could end unnoticed.
            waiters.add(continuation, number: waiter, for: id)
            reference.performAsync { await $0.lookForEnd(ofRequest: id, waiter) }
        }
    }

    /// A number for a call of ``waitForRun(ofRequest:_:)``.
    func makeWaiter() -> UInt64 { waiters.makeNumber() }

    /// Answers a waiter if a run of the request has ended, or if the request is unknown.
    private nonisolated(nonsending) func lookForEnd(ofRequest id: RunID, _ waiter: UInt64) async {
        var answer = await history.ask { $0.run(ofRequest: id) }
        if answer == nil {
            // If it runs or waits, its end answers the waiter. Otherwise it may have ended since the
            // store was asked.
            guard await !isKnown(id) else { return }
            answer = await history.ask { $0.run(ofRequest: id) }
        }
        guard let ended = answer else {
            waiters.remove(waiter, for: id)?.resume(returning: nil)
            return
        }
        // The store's answers include transactions that are not on the disk yet. The answer to the empty
        // transaction follows all earlier commits.
        let isKept = await commits.allCommitted()
        // A closed or damaged store still returns the runs that it has stored.
        let stored: RunRecord? = isKept ? ended : await history.ask { $0.run(ofRequest: id) }
        waiters.remove(waiter, for: id)?.resume(returning: stored)
    }

    /// Ends a wait without a run.
    func stopWaiting(_ waiter: UInt64, ofRequest id: RunID) {
        waiters.remove(waiter, for: id)?.resume(returning: nil)
    }

    /// Whether a request runs or waits.
    ///
    /// The waiting ones are searched in pages, between which deadlines and frames of workers are handled.
    private nonisolated(nonsending) func isKnown(_ id: RunID) async -> Bool {
        var start: Int? = 0
        while let from = start {
            if runs.slots.contains(where: { $0?.record.request == id }) { return true }
            if supervisor.fleet?.partitions?.isInbound(id) == true { return true }
            let page = dispatcher.scheduler.waiting(.ids(id...id), from: from, keeping: 0)
            guard page.count == 0 else { return true }
            start = page.next
            if start != nil { await Task.yield() }
        }
        // The run may have started while the query read its page.
        return runs.slots.contains { $0?.record.request == id }
    }

    // MARK: Runs

    /// Cancels a run as an operator; `false` if it is not running.
    func stop(_ id: RunID) -> Bool { supervisor.stop(runs.run(id: id)) }

    /// Cancels a run as if its time were over; `false` if it is not running.
    func expire(_ id: RunID) -> Bool {
        guard let run = runs.run(id: id) else { return false }
        supervisor.simulateExpiry(of: run)
        return true
    }

    nonisolated(nonsending) func runs(task: String?, limit: Int) async -> [RunRecord] {
        let active = runs.records(now: clock.monotonic).filter { task == nil || $0.task == task }
        let ended = await history.ask { $0.runs(task: task, limit: limit) }
        return Self.merged(active, ended, limit)
    }

    nonisolated(nonsending) func runs(idPrefix: String, limit: Int) async -> [RunRecord] {
        let prefix = idPrefix.uppercased()
        let active = runs.records(now: clock.monotonic).filter {
            $0.id.description.hasPrefix(prefix)
        }
        let ended = await history.ask { $0.runs(idPrefix: prefix, limit: limit) }
        return Self.merged(active, ended, limit)
    }

    /// Running and ended runs, the newest first; a run may have ended while the store was asked.
    private static func merged(
        _ active: [RunRecord],
        _ ended: [RunRecord],
        _ limit: Int
    ) -> [RunRecord] {
        let ids = Set(ended.map(\.id))
        let running = active.filter { !ids.contains($0.id) }.sorted { $0.id > $1.id }
        return Array((running + ended).prefix(max(0, limit)))
    }

    nonisolated(nonsending) func output(ofRun id: RunID) async -> String {
        if let run = runs.run(id: id) { return run.output.text }
        return await history.ask { $0.output(ofRun: id) }
    }

    /// Triggers a task and waits for the end of its run, in one step.
    nonisolated(nonsending) func run(_ submission: Submission) async throws(SubmitError)
        -> RunRecord?
    {
        try await intake.parameters.require(submission)
        guard let accepted = try intake.check(submission, isManual: true) else { return nil }
        let id = accepted.request.id
        return await withCheckedContinuation { continuation in
            waiters.add(continuation, number: waiters.makeNumber(), for: id)
            intake.store(accepted) { [waiters] result in
                guard case .failure = result else { return }
                waiters.finish(id, with: nil)
            }
        }
    }
}
