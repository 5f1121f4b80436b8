// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostLinux
internal import BghostModel
internal import BghostSandbox
internal import BghostServices
internal import BghostWire
internal import Glibc

/// Frames from a worker. They are untrusted: the daemon kills a worker that sends an invalid frame.
extension WorkerPool {
    func executorReady(_ token: UInt64, _ readiness: Readiness) {
        guard let channel = Worker.Channel(rawValue: token & 7),
            let worker = executors.worker(UInt32(truncatingIfNeeded: token >> 3))
        else { return }
        switch channel {
        case .work: receive(worker, readiness)
        case .control:
            worker.flushControl()
            if !worker.isControlBlocked { reactor.unwatch(worker.control.raw) }
        case .end:
            guard let end = worker.process?.exit else { return }
            // Read the frames that the worker sent before it exited; they are valid.
            while worker.state != .ending, receive(worker, .input) {}
            processEnded(worker, end)
        case .output, .error: readOutput(worker, channel)
        }
    }

    /// Receives one packet per call, so that one worker cannot delay the others.
    ///
    /// - Returns: `false` if no packet was received or the worker was killed.
    @discardableResult
    private func receive(_ worker: Worker, _ readiness: Readiness) -> Bool {
        let count = PacketSocket.receive(worker.work.raw, packet, wait: false)
        guard count > 0 else {
            switch count {
            case -Int(EMSGSIZE): kill(worker, for: .oversizedPacket)
            case -Int(EAGAIN): break
            default:
                // The worker closed its end, or sent an empty packet, which looks the same. In both
                // cases it can send nothing more, even if its process is still running.
                reactor.unwatch(worker.work.raw)
                if worker.state != .ending { hungUp(worker) }
            }
            return false
        }
        guard worker.state != .ending, worker.state != .gone else { return true }
        do throws(WireError) {
            try handle(UnsafeRawBufferPointer(packet).bytes.extracting(first: count), from: worker)
        } catch {
            kill(worker, for: error)
            return false
        }
        return true
    }

    /// A worker closed its socket while its process is running.
    ///
    /// The process often exits shortly afterwards, and its exit status explains more. The daemon
    /// therefore kills the worker only if the process still exists at the deadline.
    private func hungUp(_ worker: Worker) {
        // The worker can report no result, so it gets no more runs. A loading worker with runs
        // keeps its state; its exit status will show why loading failed.
        if worker.isIdle || worker.state == .live { worker.state = .retiring }
        setDeadline(worker, now + HostLimits.hungUpPeriod)
        worker.hungUpAt = now
        log.write(
            .debug,
            "worker.silent",
            "pid \(worker.pid ?? 0) says nothing any more and gets no more runs",
            plugin: worker.plugin.name
        )
    }

    private func handle(_ bytes: RawSpan, from worker: Worker) throws(WireError) {
        var reader = PacketReader(bytes)
        while let frame = try reader.next() {
            guard worker.state != .ending, worker.state != .gone else { return }
            switch frame.kind {
            case .completed: try completed(frame, by: worker)
            case .released:
                let slotIndex = try slotIndex(of: frame.subject, in: worker)
                guard runs.index(of: frame.subject) == nil else { throw .wrongState }
                released(worker, slotIndex)
            case .progress: if try isWithinRate(worker) { try progressed(frame, by: worker) }
            case .log: if try isWithinRate(worker) { try logged(frame, by: worker) }
            case .call:
                let call = try Call(frame)
                // It has no answer that could refuse it.
                if case .transfer(.took) = call.operation, try !isWithinRate(worker) { continue }
                try calls.called(call, by: worker)
            case .confined:
                // A worker sends this frame once, before it loads any code of the plugin that could forge it.
                guard !worker.isConfined, worker.handlers.isEmpty else { throw .wrongState }
                confined(worker, try Confined(frame))
            case .ready:
                guard worker.state == .loading, worker.handlers.isEmpty, worker.isConfined
                else { throw .wrongState }
                becameReady(worker, try Ready(frame))
            case .refused:
                guard worker.state == .loading else { throw .wrongState }
                refused(worker, try Refused(frame))
            case .report:
                // A worker sends one when it crashes and one before it is killed; to read one takes long.
                worker.reports += 1
                guard worker.reports <= HostLimits.reportsMax else { throw .flood }
                reported(try Report(frame), by: worker)
            case .declared: throw .wrongState
            case .configure, .start, .finish, .cancel, .reply, .part, .explain:
                throw .wrongDirection
            }
        }
    }

    /// The slot of a run in this worker.
    ///
    /// - Throws: `WireError.foreignRun` if the worker does not have the run.
    private func slotIndex(of run: UInt64, in worker: Worker) throws(WireError) -> Int {
        let slotIndex = WorkerSlot.of(run)
        guard slotIndex < worker.runOfSlot.count, worker.runOfSlot[slotIndex] == run, run != 0
        else {
            throw .foreignRun
        }
        return slotIndex
    }

    /// The slot of a run whose start frame was sent to this worker.
    private func startedSlot(of run: UInt64, in worker: Worker) throws(WireError) -> Int {
        let slotIndex = try slotIndex(of: run, in: worker)
        try runs.requireStarted(run, in: worker)
        return slotIndex
    }

    private func completed(_ frame: borrowing Frame, by worker: Worker) throws(WireError) {
        let slotIndex = try startedSlot(of: frame.subject, in: worker)
        // A second one of a run says nothing.
        if runs.index(of: frame.subject) == nil {
            guard try isWithinRate(worker) else { return }
        }
        let completion = try Completed(
            frame,
            payloadBytesMax: worker.plugin.limits.resultBytes
        )
        if completion.isWorn, worker.state == .live { worker.state = .retiring }
        // The frame crossed with a kill; the run already has its outcome.
        guard let index = runs.index(of: completion.run) else { return }
        worker.hasReleased[slotIndex] = completion.isReleased
        readLastOutput(worker, completion)
        guard runs.index(of: completion.run) == index else { return }
        if runs[index]?.machine.state != .killing { supervisor.note(completion, index) }
        supervisor.handle(.completed(status: completion.status), of: completion.run)
    }

    /// Whether an unsolicited frame is within the rate limit and shall be processed.
    private func isWithinRate(_ worker: Worker) throws(WireError) -> Bool {
        switch worker.reportRate.record(now: now) {
        case .taken:
            if worker.reportRate.dropped > 0 {
                logDropped(worker.reportRate.resetDropped(), of: worker)
            }
            return true
        case .dropped: return false
        case .flood:
            logDropped(worker.reportRate.resetDropped(), of: worker)
            throw .flood
        }
    }

    func logDropped(_ count: Int, of worker: Worker) {
        log.write(
            .warning,
            "log.dropped",
            CountText.of(count, "line or step", "lines or steps") + " came too fast and "
                + (count == 1 ? "was" : "were") + " dropped",
            task: worker.lastTask,
            plugin: worker.plugin.name,
            run: worker.lastRun
        )
    }

    private func progressed(_ frame: borrowing Frame, by worker: Worker) throws(WireError) {
        _ = try startedSlot(of: frame.subject, in: worker)
        let progress = try Progress(frame)
        supervisor.noteProgress(
            of: progress.run,
            done: progress.done,
            total: progress.total,
            phase: progress.phase
        )
    }

    private func logged(_ frame: borrowing Frame, by worker: Worker) throws(WireError) {
        if frame.subject != 0 { _ = try startedSlot(of: frame.subject, in: worker) }
        let line = try LogLine(frame)
        let run = line.run == 0 ? nil : line.run
        if line.dropped > 0 {
            // Count the notice as a line of its own; otherwise every frame could add an uncounted one.
            note(
                CountText.of(line.dropped, "line") + " came too fast and "
                    + (line.dropped == 1 ? "was" : "were") + " dropped",
                of: worker,
                run: run,
                source: .handler,
                level: .warning,
                event: "log.dropped"
            )
        }
        note(
            line.text,
            of: worker,
            run: run,
            source: .handler,
            level: LogEntry.Level(rawValue: Int(line.level)) ?? .info
        )
    }

    private func refused(_ worker: Worker, _ refused: Refused) {
        let message = PrintableText.escaped(refused.message)
        let numbers = worker.runs
        for number in numbers { supervisor.note(message: message, of: number) }
        registry.loadFailed(worker.plugin, message)
        // Before the runs end and free their slots: it ends by itself and gets no further run.
        worker.state = .ending
        worker.killedFor = message
        for number in numbers { supervisor.handle(.refused, of: number) }
        setDeadline(worker, now + timeouts.finish)
    }

    // MARK: Sending

    func markDirty(_ worker: Worker) {
        guard !worker.isDirty else { return }
        worker.isDirty = true
        dirty.append(worker)
    }

    /// Registers that a start frame of a run was put into the worker's outbox.
    func markBusy(_ worker: Worker, run: RunRecord) {
        markDirty(worker)
        worker.lastRun = run.id
        worker.lastTask = run.task
        worker.forgetErrorLines()
        auditSoon(worker)
    }

    /// Has a worker audited soon, however rarely it was while it was idle.
    func auditSoon(_ worker: Worker) {
        let due = now + HostLimits.auditPeriod
        guard worker.audit > due else { return }
        worker.audit = due
        deadlines.arm(.audit(worker.serial), at: due)
    }

    func flushWorkers() {
        // Do not lower the priority earlier: clients that wait for a stopped run are notified in this turn.
        if supervisor.runsBeingStopped == 0 { reactor.isUrgent = false }
        guard !dirty.isEmpty else { return }
        for worker in dirty {
            worker.isDirty = false
            // A worker receives its configuration only after it has joined its control group.
            guard worker.state != .gone, controlGroup == nil || worker.process != nil else {
                continue
            }
            if !worker.flush(), worker.killedFor == nil {
                log.write(
                    .error,
                    "worker.stuck",
                    "pid \(worker.pid ?? 0) does not read; it is killed",
                    plugin: worker.plugin.name
                )
                worker.killedFor = "it does not read"
                retireNow(worker)
            }
        }
        dirty.removeAll(keepingCapacity: true)
    }

    /// Sends a reply, and waits for room on the control socket if it is full.
    ///
    /// - Parameter share: counts the memory of a fetched body.
    func sendReply(_ reply: Reply, to executor: any RunExecutor, holding share: HeldShare?) {
        executor.reply(reply, holding: share)
        executor.didReply(self)
    }

    /// Waits for room on the control socket of a worker.
    func waitForRoom(_ worker: Worker) {
        if worker.isStuck {
            kill(worker, for: .tooManyCalls)
            return
        }
        do throws(SystemError) {
            try reactor.watch(worker.control.raw, for: .output, token: worker.token(.control))
        } catch  where error.code == EEXIST {
            // The socket is already watched for an earlier reply.
        } catch {
            // Kill the worker; its calls would otherwise wait forever for their replies.
            log.write(.error, "worker.unwatched", error.description, plugin: worker.plugin.name)
            worker.killedFor = "its socket cannot be watched"
            retireNow(worker)
        }
    }
}
