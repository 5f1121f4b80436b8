// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
@testable import BghostHost
@testable import BghostModel
import BghostPolicy
import BghostServices
import BghostWire
import Dispatch

/// What tests do in the place of the plugin and its worker, on the host's thread.
extension Host {
    /// Adds an executor of the plugin that records its runs.
    func addTestExecutor() {
        let executor = TestExecutor(
            serial: owners.executors.nextSerial(),
            plugin: owners.plugins[0],
            slotCount: 64
        )
        executor.state = .live
        executor.handlers = [Ready.Handler(name: "handler", flags: 0)]
        owners.executors.add(executor)
        executor.plugin.executors[executor.serial] = executor
        owners.pool.list(executor)
        // Until then, the scheduler takes each handler for one that has one run at a time.
        owners.registry.noteHandlers(of: executor.plugin, executor.handlers)
    }

    private func removeExecutors() {
        for executor in owners.executors.all {
            owners.executors.remove(executor)
            executor.plugin.executors[executor.serial] = nil
            executor.plugin.available.removeAll { $0 === executor }
        }
    }

    func complete(_ id: RunID, _ status: Int32, _ message: String, _ result: String) {
        guard let run = owners.runs.run(id: id), let index = owners.runs.index(of: run.number)
        else { return }
        run.executor.hasReleased[WorkerSlot.of(run.number)] = true
        owners.supervisor.note(
            Completed(
                run: run.number,
                status: status,
                message: message,
                payload: result,
                isReleased: true
            ),
            index
        )
        owners.supervisor.handle(.completed(status: status), of: run.number)
        replace(run.executor)
    }

    func kill(_ id: RunID, _ reason: KillReason, _ message: String) {
        guard let run = owners.runs.run(id: id) else { return }
        owners.supervisor.note(message: message, of: run.number)
        owners.supervisor.handle(.exceeded(reason), of: run.number)
        owners.supervisor.handle(.exited(.signalled(9)), of: run.number)
        replace(run.executor)
    }

    /// Adds another executor if this one gets no more runs, as after one that failed.
    private func replace(_ executor: any RunExecutor) {
        if executor.state != .live { addTestExecutor() }
    }

    func untilAwaited(_ request: RunID?) async {
        let waiters = owners.supervisor.waiters
        func isAwaited() -> Bool { request.map(waiters.isAwaited) ?? (waiters.count > 0) }
        while !isAwaited() { await Task.yield() }
    }

    func untilNobodyWaits() async {
        while owners.supervisor.waiters.count > 0 { await Task.yield() }
    }

    func holdPlugin() {
        let plugin = owners.plugins[0]
        plugin.problem = PluginProblem(
            message: "its worker ended",
            files: plugin.files,
            isPause: true
        )
        owners.registry.reportProblem(of: plugin)
    }

    func releasePlugin() {
        owners.plugins[0].problem = nil
        owners.registry.reportProblem(of: owners.plugins[0])
    }

    func block(until end: DispatchSemaphore) { end.wait() }

    func quarantinePlugin(_ reason: String) {
        owners.registry.quarantine(owners.plugins[0], reason)
    }

    func idleWorkerEnded(for reason: String, at wall: Int64) {
        let registry = owners.registry
        registry.crashes.idleWorkerEnded("storm", for: reason, now: registry.now, wall: wall)
    }

    func endWithRuns() async {
        // The runs that end must make room for no others.
        if !owners.dispatcher.scheduler.isDraining {
            owners.dispatcher.decide { scheduler, now, _ in scheduler.drain(now: now) }
        }
        for number in owners.runs.numbers {
            owners.supervisor.handle(.completed(status: 0), of: number)
        }
        removeExecutors()
        await drain()
    }
}
