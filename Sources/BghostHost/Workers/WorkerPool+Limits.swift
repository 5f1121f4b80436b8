// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostTransferBridge
internal import BghostWire
internal import Glibc

/// Limits on the resources of workers.
///
/// An idle worker costs nothing: the daemon checks memory and processor time only when a worker has
/// used more processor time, and a worker that does not run cannot allocate memory. The kernel
/// reports that use only between two system calls of the worker, so the daemon also checks a worker
/// with a run ten times a second.
extension WorkerPool {
    func workerUsedCPU(serial: UInt32) {
        guard let worker = executors.worker(serial), let process = worker.process else {
            return
        }
        checkUse(of: worker, process)
    }

    private func checkUse(of worker: Worker, _ process: ChildProcess) {
        guard !worker.isKilled, worker.state != .gone else { return }
        let limits = worker.plugin.limits
        if let limit = limits.memoryBytes, let resident = process.sampleMemory(), resident > limit {
            return over(worker, .memory, isFar: resident > limits.memoryBytesMax ?? limit)
        }
        guard !worker.isIdle || worker.state == .ending else {
            return checkIdleUse(of: worker, process)
        }
        guard let limit = limits.cpu?.clampedNanoseconds, let used = process.cpuNanoseconds else {
            return
        }
        guard worker.hasRun else {
            // What a handler computes before it releases its completed run, it computes for that run. A plugin
            // that is to finish has as much again.
            let before = worker.runOfSlot.count == 1 ? worker.cpuAtBegin : worker.cpuDivided
            guard used + worker.childrenCPU - before > Int64(clamping: limit) else { return }
            return exceeded(worker, .cpu)
        }
        let isFar = limits.cpuMax ?? limit
        guard worker.runOfSlot.count == 1 else {
            return divide(used + worker.childrenCPU, among: worker, limit, isFar)
        }
        guard let index = runs.index(of: worker.runOfSlot[0]), let run = runs[index],
            run.machine.beganAt != nil
        else { return }
        let children = worker.childrenCPU - run.childrenCPUAtBegin
        let ran = UInt64(clamping: used - run.cpuAtBegin + children)
        guard ran > limit else { return }
        over(worker, .cpu, isFar: ran > isFar)
    }

    /// Divides the processor time of a worker equally among its runs.
    ///
    /// The kernel does not account for the time of single runs.
    private func divide(_ used: Int64, among worker: Worker, _ limit: UInt64, _ far: UInt64) {
        let begun = worker.runs.compactMap { number in
            runs.index(of: number).flatMap { runs[$0] }
        }.filter { $0.machine.beganAt != nil }
        let share =
            max(0, used - worker.cpuDivided) / Int64(max(1, begun.count + worker.unreleased))
        worker.cpuDivided = used
        for run in begun {
            run.cpuShare += share
            let ran = UInt64(clamping: run.cpuShare)
            guard ran > limit else { continue }
            supervisor.handle(ran > far ? .exceeded(.cpu) : .stop(.quota), of: run.number)
        }
    }

    /// Cancels the runs of a worker that is over a soft limit.
    ///
    /// The daemon kills the worker instead if it is over the hard limit, has no run, or has a run
    /// that has not started.
    func over(_ worker: Worker, _ reason: KillReason, isFar: Bool) {
        let numbers = runsInProgress(of: worker)
        let haveBegun = numbers.allSatisfy { runs.run($0)?.machine.beganAt != nil }
        guard !isFar, !numbers.isEmpty, haveBegun else { return exceeded(worker, reason) }
        for number in numbers { supervisor.handle(.stop(.quota), of: number) }
    }

    /// Kills all runs of a worker that is over a limit; the daemon cannot tell which run caused it.
    func exceeded(_ worker: Worker, _ reason: KillReason) {
        let numbers = runsInProgress(of: worker)
        guard !numbers.isEmpty else {
            return endIdle(worker, "is over its limit of \(reason.text)")
        }
        for number in numbers { supervisor.handle(.exceeded(reason), of: number) }
    }

    /// The runs of a worker without those that are complete and not released.
    private func runsInProgress(of worker: Worker) -> [UInt64] {
        worker.runs.filter { runs.index(of: $0) != nil }
    }

    /// Periodic check of a worker with a run or that had one recently, and of one that loads its plugin.
    func auditWorker(_ serial: UInt32) {
        guard let worker = executors.worker(serial), let process = worker.process else {
            return
        }
        // On a busy machine more time than that has passed since the audit before.
        let passed = HostLimits.auditPeriod + now.since(worker.audit)
        worker.audit = .never
        measureData(of: worker.plugin)
        if configuration.pausesForDebuggers { pauseIfTraced(worker, process.pid, for: passed) }
        // This call may kill the worker. A worker without a run is checked too: much memory can be taken in
        // less processor time than that after which the kernel reports it.
        checkUse(of: worker, process)
        guard !worker.isKilled, worker.state != .gone else { return }
        measureTree(of: worker, process)
        guard let next = nextAudit(of: worker) else { return }
        worker.audit = next
        deadlines.arm(.audit(serial), at: next)
    }

    /// The time of the worker's next audit; `nil` if none is needed.
    ///
    /// The interval grows while the worker is idle.
    private func nextAudit(of worker: Worker) -> MonotonicInstant? {
        guard worker.isIdle, worker.state != .ending, worker.state != .loading else {
            return now + HostLimits.auditPeriod
        }
        let idle = now.since(worker.idleSince)
        guard worker.canHaveProcesses else {
            // The last count of its data directory may have been before its last writes, and skipped since.
            guard idle >= HostLimits.dataPeriod else {
                return worker.idleSince + HostLimits.dataPeriod
            }
            return dataDirectories.skippedUntil(worker.plugin.name).map {
                max($0, now + HostLimits.auditPeriod)
            }
        }
        return now + min(max(idle, HostLimits.auditPeriod), HostLimits.idleAuditPeriodMax)
    }

    static func isTraced(_ pid: Int32) -> Bool {
        ProcessStatus(pid: pid).map { $0.tracer != 0 } ?? false
    }

    /// Pauses the deadlines of the runs while a debugger is attached to the worker.
    private func pauseIfTraced(_ worker: Worker, _ pid: Int32, for passed: UInt64) {
        guard Self.isTraced(pid) else { return }
        for number in worker.runs { supervisor.handle(.paused(passed), of: number) }
    }

    // MARK: Output

    /// The most output of a worker that one turn handles, bytes.
    private static let turnBytesMax = 4 << 10

    /// Reads standard output or standard error of a worker.
    ///
    /// - Parameter all: whether to read all that the pipe holds; otherwise a later turn reads the rest, because
    ///   short lines take much longer than their bytes.
    func readOutput(_ worker: Worker, _ channel: Worker.Channel, all: Bool = false) {
        guard let fd = worker.descriptor(channel) else { return }
        let count = read(fd, printed.baseAddress, all ? printed.count : Self.turnBytesMax)
        guard count > 0 else {
            if count == 0 { reactor.unwatch(fd) }
            return
        }
        worker.hasPrinted = true
        let bytes = UnsafeRawBufferPointer(rebasing: printed[..<count])
        switch channel {
        case .output: worker.outputLines.feed(bytes) { noteLine($0, of: worker, .output) }
        default: worker.errorLines.feed(bytes) { noteLine($0, of: worker, .error) }
        }
    }

    /// Reads the output that a handler printed before it completed, including an unterminated last line.
    ///
    /// A worker that never prints costs no system call here.
    func readLastOutput(_ worker: Worker, _ completion: Completed) {
        guard worker.hasPrinted || completion.hasPrinted else { return }
        readOutput(worker, .output, all: true)
        readOutput(worker, .error, all: true)
        // With several slots, the unterminated line may belong to another run.
        if worker.runOfSlot.count == 1 { finishLines(worker) }
    }

    func finishLines(_ worker: Worker) {
        worker.outputLines.finish { noteLine($0, of: worker, .output) }
        worker.errorLines.finish { noteLine($0, of: worker, .error) }
    }

    func noteLine(_ line: String, of worker: Worker, _ channel: Worker.Channel) {
        if channel == .error { worker.noteErrorLine(line) }
        note(
            line,
            of: worker,
            run: worker.runOfSlot.count == 1 ? worker.runOfSlot[0] : nil,
            source: channel == .output ? .stdout : .stderr,
            level: channel == .output ? .info : .warning
        )
    }

    /// Logs a line of a plugin and counts it against the plugin's output limit.
    ///
    /// The daemon kills a run, or a worker without a run, whose output is far over the limit.
    func note(
        _ text: String,
        of executor: any RunExecutor,
        run number: UInt64?,
        source: LogEntry.Source,
        level: LogEntry.Level,
        event: String = ""
    ) {
        // Count the escaped text, because that is stored; escaping makes a line up to eight times as long.
        let text = PrintableText.escaped(text)
        guard let number, let index = runs.index(of: number) else {
            guard isOutputWithinLimit(text.utf8.count + 1, of: executor) else { return }
            return logWithoutRun(
                text,
                of: executor,
                run: number,
                source: source,
                level: level,
                event: event
            )
        }
        let limit = executor.plugin.limits.outputBytes
        let bytes = text.utf8.count + 1
        runs[index]?.usage.outputBytes += bytes
        let total = runs[index]?.usage.outputBytes ?? 0
        // Keep dropped lines here as well: the last lines show how the run ended.
        runs[index]?.keepOutput(text)
        guard total <= limit else {
            noteDropped(index, number, total, limit)
            return
        }
        log.write(
            level,
            event,
            text,
            source: source,
            task: runs[index]?.record.task,
            plugin: executor.plugin.name,
            run: runs[index]?.record.id,
            trace: runs[index]?.record.trace
        )
    }

    /// Whether the output limit allows a line that belongs to no single run.
    ///
    /// Runs that share a worker have their limits together. Between two runs a plugin may write as
    /// much as during one run.
    private func isOutputWithinLimit(_ bytes: Int, of executor: any RunExecutor) -> Bool {
        let runs = executor.runOfSlot.count > 1 ? executor.slots.runsInProgress : 0
        let limit = executor.plugin.limits.outputBytes &* max(1, runs)
        switch executor.slots.sharedOutput.add(bytes, limit: limit) {
        case .kept: return true
        case .dropped: break
        case .tooMuch: executor.exceededOutput(self)
        case .firstDropped:
            let whose =
                runs > 0
                ? CountText.of(runs, "run") + " in its worker " + (runs == 1 ? "is" : "are")
                : "outside of runs it is"
            log.write(
                .warning,
                "output.limit",
                "\(whose) over the output limit of \(limit) bytes; the rest of that is dropped",
                plugin: executor.plugin.name
            )
        }
        return false
    }

    private func noteDropped(_ index: Int, _ number: UInt64, _ total: Int, _ limit: Int) {
        runs[index]?.droppedOutput += 1
        if runs[index]?.droppedOutput == 1 {
            log.write(
                .warning,
                "output.limit",
                "over its output limit of \(limit) bytes; the rest of its output is dropped",
                task: runs[index]?.record.task,
                plugin: runs[index]?.record.plugin,
                run: runs[index]?.record.id
            )
        }
        let lines = runs[index]?.droppedOutput ?? 0
        if SharedOutput.isTooMuch(total, lines: lines, limit: limit) {
            supervisor.handle(.exceeded(.output), of: number)
        }
    }
}
