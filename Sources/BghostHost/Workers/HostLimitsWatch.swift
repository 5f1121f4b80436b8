// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostWire
internal import Glibc

/// Watching what workers use. It costs nothing while they use nothing: memory and processor time are
/// looked at each time that a worker has used some more of the latter, because a worker that does not
/// run cannot allocate either.
extension Host {
    func workerUsedCPU(serial: UInt32) {
        guard let worker = carriers[serial] as? Worker, let process = worker.process,
            worker.state == .live || worker.state == .loading || worker.state == .retiring
        else { return }
        let limits = worker.plugin.limits
        if let limit = limits.memoryBytes, let resident = process.lookAtMemory(), resident > limit {
            return over(worker, .memory, isFar: resident > limits.memoryBytesMax ?? limit)
        }
        guard let limit = limits.cpu?.clampedNanoseconds, worker.lanes.count == 1,
            let index = runs.index(of: worker.lanes[0]), let run = runs[index],
            run.machine.beganAt != nil, let used = process.cpuNanoseconds
        else { return }
        let ran = UInt64(clamping: used - run.cpuAtBegin)
        guard ran > limit else { return }
        over(worker, .cpu, isFar: ran > limits.cpuMax ?? limit)
    }

    /// Asks the runs of a worker that is over a limit to stop, while there is room left for that.
    ///
    /// Without room, or with nobody to ask, it is killed.
    private func over(_ worker: Worker, _ reason: KillReason, isFar: Bool) {
        let numbers = worker.runs
        let haveBegun = numbers.allSatisfy { number in
            runs.index(of: number).map { runs[$0]?.machine.beganAt != nil } == true
        }
        guard !isFar, !numbers.isEmpty, haveBegun else { return exceeded(worker, reason) }
        for number in numbers { handle(.stop(.quota), of: number) }
    }

    /// Ends all runs of a worker that is over a limit: which of them is at fault cannot be told.
    func exceeded(_ worker: Worker, _ reason: KillReason) {
        let numbers = worker.runs
        guard !numbers.isEmpty else {
            worker.killedFor = reason.text
            log.write(
                .warning,
                "worker.killed",
                "over its limit of \(reason.text) without a run",
                plugin: worker.plugin.name
            )
            retireNow(worker)
            return
        }
        for number in numbers { handle(.exceeded(reason), of: number) }
    }

    /// Counts the tree of a worker that has been busy for a while.
    func auditWorker(_ serial: UInt32) {
        guard let worker = carriers[serial] as? Worker, let process = worker.process else { return }
        worker.audit = .max
        lookAtData(of: worker.plugin)
        guard !worker.isIdle else { return }
        if configuration.isLax { pauseIfTraced(worker, process.pid) }
        let limit = worker.plugin.limits.processes
        if process.countTree(limit: limit) > limit {
            exceeded(worker, .processes)
            return
        }
        worker.audit = now &+ HostLimits.auditPeriod
        arm(worker.audit, token: TimerToken.audit(serial).raw)
    }

    /// Has the times of its runs stand still while somebody debugs a worker, where people develop.
    private func pauseIfTraced(_ worker: Worker, _ pid: Int32) {
        guard let status = ProcessStatus(pid: pid), status.tracer != 0 else { return }
        for number in worker.runs { handle(.paused(HostLimits.auditPeriod), of: number) }
    }

    // MARK: Output

    /// Reads what a worker printed.
    func readOutput(_ worker: Worker, _ channel: Worker.Channel) {
        guard let fd = worker.descriptor(channel) else { return }
        let count = read(fd, packet.baseAddress, 64 << 10)
        guard count > 0 else {
            if count == 0 { reactor.unwatch(fd) }
            return
        }
        let bytes = UnsafeRawBufferPointer(rebasing: packet[..<count])
        switch channel {
        case .output: worker.outputLines.feed(bytes) { noteLine($0, of: worker, .output) }
        default: worker.errorLines.feed(bytes) { noteLine($0, of: worker, .error) }
        }
    }

    func noteLine(_ line: String, of worker: Worker, _ channel: Worker.Channel) {
        note(
            line,
            of: worker,
            run: worker.lanes.count == 1 ? worker.lanes[0] : nil,
            source: channel == .output ? .stdout : .stderr,
            level: channel == .output ? .info : .warning
        )
    }

    /// Logs a line of a plugin, charges it to its run, and ends a run that writes far too much.
    func note(
        _ text: String,
        of carrier: Carrier,
        run number: UInt64?,
        source: LogEntry.Source,
        level: LogEntry.Level
    ) {
        let worker = carrier as? Worker
        guard let number, let index = runs.index(of: number) else {
            let lane = number.map(Lane.of) ?? carrier.lanes.count
            if lane < carrier.lanes.count, let past = carrier.lastOfLane[lane],
                past.number == number
            {
                log.write(
                    level,
                    "",
                    text,
                    source: source,
                    task: past.task,
                    plugin: carrier.plugin.name,
                    run: past.id
                )
                return
            }
            log.write(
                level,
                "",
                text,
                source: source,
                task: worker?.lastTask,
                plugin: carrier.plugin.name,
                run: worker?.lastRun
            )
            return
        }
        let limit = carrier.plugin.limits.outputBytes
        let bytes = text.utf8.count + 1
        runs[index]?.outputBytes += bytes
        let total = runs[index]?.outputBytes ?? 0
        guard total <= limit else {
            noteDropped(index, number, total, limit)
            return
        }
        log.write(
            level,
            "",
            text,
            source: source,
            task: runs[index]?.record.task,
            plugin: carrier.plugin.name,
            run: runs[index]?.record.id
        )
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
        if total > limit &* HostLimits.outputFactor + (1 << 20) {
            handle(.exceeded(.output), of: number)
        }
    }
}
