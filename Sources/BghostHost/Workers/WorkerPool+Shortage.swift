// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostWire

/// No executor is available; the description becomes part of the run's record.
struct RunExecutorError: Error, CustomStringConvertible {
    let description: String
    /// Whether the cause is a temporary shortage of resources of the machine.
    var isShortage = false
}

/// Shortages of resources of the machine; they are temporary and not counted against the plugin.
extension WorkerPool {
    /// Kills a worker whose CPU quota the kernel refused; neither the plugin nor its runs are at fault.
    func giveUpUnheld(_ worker: Worker) {
        let message = "the kernel refused a control group with its limits.cpuQuota"
        registry.pauseForShortage(worker.plugin, message)
        worker.killedFor = message
        for number in worker.runs {
            supervisor.note(message: message, of: number)
            worker.hasReleased[WorkerSlot.of(number)] = true
            supervisor.handle(.workerLost, of: number)
        }
        retireNow(worker)
    }

    /// Notes that the handler of a run need not release it, because the run was never sent.
    func willNotStart(_ number: UInt64, in executor: any RunExecutor) {
        executor.hasReleased[WorkerSlot.of(number)] = true
    }
}
