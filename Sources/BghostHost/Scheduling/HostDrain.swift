// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// Shutdown of the host, in order or forced.
extension Host {
    /// Accepts no new work, cancels all runs, and returns when the last worker has ended.
    ///
    /// The duration is bounded: each run has its grace, and each worker has the finish timeout.
    package func drain() async {
        guard !isDraining else {
            await waitUntilDrained()
            return
        }
        decide { scheduler, now, _ in scheduler.drain(now: now) }
        log.write(.info, "host.draining", "\(runs.count) runs are asked to stop")
        for number in runs.numbers { handle(.stop(.drain), of: number) }
        for executor in executors.values where executor.isIdle { retire(executor) }
        if isHurried { hurry() }
        await waitUntilDrained()
        await endTransfers()
        // Stop the facts before the spawner, which their probes use.
        facts.stop()
        // Runs after the removal of the workers' control groups, which is queued on the same thread.
        if let controlGroup {
            await withCheckedContinuation { continuation in
                spawner.perform {
                    controlGroup.remove()
                    continuation.resume()
                }
            }
        }
        await closeStore()
        await history.finish()
        state.unlock()
        log.write(.info, "host.stopped", "no run and no worker is left")
        log.endFollowers()
        spawner.end()
        threads.end()
        reactor.stop()
    }

    /// Forces a shutdown: kills all runs and executors without waiting for their grace.
    ///
    /// Before a drain, it makes the next drain forced.
    package func hurry() {
        isHurried = true
        store.hurry()
        guard isDraining, !isEmpty else { return }
        log.write(.warning, "host.hurried", "\(runs.count) runs are not waited for")
        for number in runs.numbers { handle(.hurry, of: number) }
        for executor in Array(executors.values) { retireNow(executor) }
    }

    private func waitUntilDrained() async {
        await withCheckedContinuation { continuation in
            if isEmpty { continuation.resume() } else { drained.append(continuation) }
        }
    }

    private var isEmpty: Bool { runs.count == 0 && executors.isEmpty }

    func checkDrained() {
        guard isDraining, isEmpty, !drained.isEmpty else { return }
        let continuations = drained
        drained = []
        for continuation in continuations { continuation.resume() }
    }
}
