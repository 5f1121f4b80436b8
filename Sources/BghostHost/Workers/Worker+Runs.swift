// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostWire

/// The runs of a worker: what they use, and what happens to the worker with them.
extension Worker {
    func mayReport(now: MonotonicInstant) -> Bool { reportRate.record(now: now) == .taken }

    var newestRun: (id: RunID?, task: String?) { (lastRun, lastTask) }

    func wasSent(_ run: RunRecord, _ pool: WorkerPool) { pool.markBusy(self, run: run) }

    // MARK: Measurements

    func beginMeasuring(_ run: ActiveRun, now: MonotonicInstant) {
        var used: Int64?
        if runOfSlot.count == 1 {
            used = process?.cpuNanoseconds
            run.cpuAtBegin = used ?? 0
            run.childrenCPUAtBegin = childrenCPU
            cpuAtBegin = run.cpuAtBegin + childrenCPU
        } else if plugin.limits.cpu != nil, isAlmostIdle {
            // Processor time that the worker used without a run is not divided among the runs.
            cpuDivided = (process?.cpuNanoseconds ?? 0) + childrenCPU
        }
        idleUse.runBegan(used: used, now: now)
    }

    func measure(_ run: ActiveRun, now: MonotonicInstant) {
        guard let process, let began = run.machine.beganAt,
            now.since(began) >= HostLimits.measuredRunMin,
            // In a worker with several slots, the use of one run cannot be determined.
            runOfSlot.count == 1
        else { return }
        if let cpu = process.cpuNanoseconds {
            cpuAtEnd = cpu
            noteChildrenCPU(own: cpu)
            let children = childrenCPU - run.childrenCPUAtBegin
            run.usage.cpu = .nanoseconds(max(0, cpu - run.cpuAtBegin) + children)
        }
        if let peak = process.peakResidentBytes { run.usage.peakMemoryBytes = peak }
    }

    // The process keeps the peak of its samples.
    func sampleMemory() { _ = process?.sampleMemory() }

    func wasReleased() {
        // The handler's processor time until now belongs to the run, not to the idle worker.
        cpuAtEnd = nil
    }

    // Not checked after a very short run, nor for a worker with several slots, whose other runs
    // may need the processes. A later check or the idle limit finds these.
    func hasLeftProcesses(after lasted: Duration?) -> Bool {
        guard runOfSlot.count == 1, canHaveProcesses, let lasted,
            lasted.clampedNanoseconds >= HostLimits.measuredRunMin
        else { return false }
        return process?.hasChildren(group: group) ?? false
    }

    // MARK: Life

    func becameIdle(_ pool: WorkerPool) { pool.workerBecameIdle(self) }

    func finish(_ pool: WorkerPool) {
        outbox.frame(.finish, subject: 0)
        pool.markDirty(self)
        // Its close() has the limits of a run.
        cpuAtBegin = (process?.cpuNanoseconds ?? 0) + childrenCPU
        cpuDivided = cpuAtBegin
        pool.auditSoon(self)
    }

    func willKill(for reason: KillReason, _ pool: WorkerPool) -> Bool {
        killedFor = reason.text
        return reason == .graceExceeded && pool.explainBeforeKill(self)
    }

    func kill(_ pool: WorkerPool) {
        isKilled = true
        process?.kill()
    }

    func exceededOutput(_ pool: WorkerPool) {
        guard !isKilled, state != .gone else { return }
        pool.exceeded(self, .output)
    }

    func didReply(_ pool: WorkerPool) {
        if isControlBlocked { pool.waitForRoom(self) }
    }
}
