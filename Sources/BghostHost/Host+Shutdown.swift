// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices

/// Shutdown of the host, in order or forced.
extension Host {
    /// Accepts no new work, cancels all runs, and returns when the last worker has ended.
    ///
    /// The duration is bounded: each run has its grace, and each worker has the finish timeout.
    package func drain() async {
        let (dispatcher, log, spawner) = (owners.dispatcher, services.log, services.spawner)
        guard !shutdown.hasBegun else {
            await shutdown.waitUntilEmpty()
            return
        }
        shutdown.hasBegun = true
        owners.drain.end()
        if !dispatcher.scheduler.isDraining {
            dispatcher.decide { scheduler, now, _ in scheduler.drain(now: now) }
        }
        owners.reporter.drainBegan()
        let count = owners.runs.count
        log.write(
            .info,
            "host.draining",
            CountText.of(count, "run") + (count == 1 ? " is" : " are") + " asked to stop"
        )
        for number in owners.runs.numbers { owners.supervisor.handle(.stop(.drain), of: number) }
        for executor in owners.executors.all where executor.isIdle {
            owners.pool.retire(executor)
        }
        if shutdown.isForced { forceShutdown() }
        await shutdown.waitUntilEmpty()
        await commands.backup.finish()
        await owners.transfers.end()
        // Stop the facts before the spawner, which their probes use.
        owners.facts.stop()
        // Runs after the removal of the workers' control groups, which is queued on the same thread.
        if let controlGroup = owners.pool.controlGroup {
            await withCheckedContinuation { continuation in
                spawner.perform {
                    controlGroup.remove()
                    continuation.resume()
                }
            }
        }
        owners.alerts.stop()
        await owners.fleet.leave()
        await owners.audit.logHead()
        await owners.commits.close(on: spawner)
        await owners.history.finish()
        services.state.unlock()
        log.write(.info, "host.stopped", "no run and no worker is left")
        log.endFollowers()
        spawner.end()
        services.threads.end()
        reactor.stop()
    }

    /// Forces a shutdown: kills all runs and executors without waiting for their grace.
    ///
    /// Before a drain, it makes the next drain forced.
    package func forceShutdown() {
        shutdown.isForced = true
        owners.commits.abortFlush()
        commands.backup.abandon()
        guard shutdown.hasBegun, !shutdown.isEmpty else { return }
        let runs = owners.runs
        let text = "not waiting for " + CountText.of(runs.count, "run")
        services.log.write(.warning, "host.hurried", text)
        for number in runs.numbers { owners.supervisor.handle(.forceStop, of: number) }
        for executor in owners.executors.all { owners.pool.retireNow(executor) }
    }
}

/// The callers that wait until no run and no executor is left.
///
/// Use it on the reactor's thread only.
final class Shutdown {
    private let runs: RunTable
    private let executors: ExecutorTable
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// Whether runs are cancelled.
    var hasBegun = false
    /// Whether a drain is forced.
    var isForced = false

    init(_ runs: RunTable, _ executors: ExecutorTable) {
        self.runs = runs
        self.executors = executors
    }

    var isEmpty: Bool { runs.count == 0 && executors.isEmpty }

    /// Returns when no run and no executor is left.
    nonisolated(nonsending) func waitUntilEmpty() async {
        await withCheckedContinuation { continuation in
            if isEmpty { continuation.resume() } else { waiting.append(continuation) }
        }
    }

    /// Resumes those who wait, if nothing is left.
    func check() {
        guard !waiting.isEmpty, isEmpty else { return }
        let continuations = waiting
        waiting = []
        for continuation in continuations { continuation.resume() }
    }
}
