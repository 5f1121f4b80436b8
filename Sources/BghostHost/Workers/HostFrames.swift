// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostWire
internal import Glibc

/// What comes from a worker. All of it is hostile: one frame that is wrong ends the worker.
extension Host {
    func carrierReady(_ token: UInt64, _ readiness: Readiness) {
        guard let channel = Worker.Channel(rawValue: token & 7),
            let worker = carriers[UInt32(truncatingIfNeeded: token >> 3)] as? Worker
        else { return }
        switch channel {
        case .work: receive(worker, readiness)
        case .control:
            worker.flushControl()
            if !worker.isControlBlocked { reactor.unwatch(worker.control.raw) }
        case .end:
            guard let end = worker.process?.exit else { return }
            // Frames that it sent before it ended count.
            while worker.state != .ending, receive(worker, .input) {}
            processEnded(worker, end)
        case .output, .error: readOutput(worker, channel)
        }
    }

    /// Receives one packet, so that no worker keeps the others waiting for longer.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    private func receive(_ worker: Worker, _ readiness: Readiness) -> Bool {
        let count = PacketSocket.receive(worker.work.raw, packet, wait: false)
        guard count > 0 else {
            switch count {
            case -Int(EMSGSIZE): kill(worker, for: .oversizedPacket)
            case -Int(EAGAIN): break
            default:
                // The other end is closed, or a packet had no bytes, which looks the same. If the
                // process lives on, it has nothing left to say.
                reactor.unwatch(worker.work.raw)
                if worker.state != .ending { hungUp(worker) }
            }
            return false
        }
        guard worker.state != .ending, worker.state != .gone else { return true }
        do throws(WireError) {
            try take(UnsafeRawBufferPointer(packet).bytes.extracting(first: count), from: worker)
        } catch {
            kill(worker, for: error)
            return false
        }
        return true
    }

    /// A worker closed its socket without ending.
    ///
    /// A moment later its process may be gone, which says more; so it is killed only if it is still
    /// there then.
    private func hungUp(_ worker: Worker) {
        // No new run goes where nothing can come from any more; while it loads, its end will say why.
        if worker.isIdle || worker.state == .live { worker.state = .retiring }
        setDeadline(worker, now &+ HostLimits.hungUpPeriod)
        worker.hungUpAt = now
        log.write(
            .debug,
            "worker.silent",
            "pid \(worker.pid ?? 0) says nothing any more and gets no more runs",
            plugin: worker.plugin.name
        )
    }

    private func take(_ bytes: RawSpan, from worker: Worker) throws(WireError) {
        var reader = PacketReader(bytes)
        while let frame = try reader.next() {
            guard worker.state != .ending, worker.state != .gone else { return }
            switch frame.kind {
            case .completed: try completed(frame, by: worker)
            case .released:
                let lane = try lane(of: frame.subject, in: worker)
                guard runs.index(of: frame.subject) == nil else { throw .wrongState }
                released(worker, lane)
            case .progress: if try admits(worker) { try progressed(frame, by: worker) }
            case .log: if try admits(worker) { try logged(frame, by: worker) }
            case .call: try called(try Call(frame), by: worker)
            case .confined:
                // Once, and before anything of the plugin could have said it.
                guard !worker.isConfined, worker.handlers.isEmpty else { throw .wrongState }
                confined(worker, try Confined(frame))
            case .ready:
                guard worker.state == .loading, worker.handlers.isEmpty, worker.isConfined
                else { throw .wrongState }
                becameReady(worker, try Ready(frame))
            case .refused:
                guard worker.state == .loading else { throw .wrongState }
                refused(worker, try Refused(frame))
            case .configure, .start, .finish, .cancel, .reply: throw .wrongDirection
            }
        }
    }

    /// The lane of a run that this worker has; any other run is not its business.
    private func lane(of run: UInt64, in worker: Worker) throws(WireError) -> Int {
        let lane = Lane.of(run)
        guard lane < worker.lanes.count, worker.lanes[lane] == run, run != 0 else {
            throw .foreignRun
        }
        return lane
    }

    private func completed(_ frame: borrowing Frame, by worker: Worker) throws(WireError) {
        let lane = try lane(of: frame.subject, in: worker)
        let completion = try Completed(
            frame,
            payloadBytesMax: worker.plugin.limits.resultBytes
        )
        if completion.isWorn, worker.state == .live { worker.state = .retiring }
        // Late, because it crossed with a kill: the run has its outcome.
        guard let index = runs.index(of: completion.run) else { return }
        worker.hasReleased[lane] = completion.isReleased
        if runs[index]?.machine.state != .killing { note(completion, index) }
        handle(.completed(status: completion.status), of: completion.run)
    }

    /// Whether a frame that nobody asked for is looked at.
    private func admits(_ worker: Worker) throws(WireError) -> Bool {
        switch worker.sayings.admit(now: now) {
        case .taken:
            if worker.sayings.dropped > 0 { tellDropped(worker.sayings.takeDropped(), of: worker) }
            return true
        case .dropped: return false
        case .flood:
            tellDropped(worker.sayings.takeDropped(), of: worker)
            throw .flood
        }
    }

    func tellDropped(_ count: Int, of worker: Worker) {
        log.write(
            .warning,
            "log.dropped",
            "\(count) lines or steps came too fast and were dropped",
            task: worker.lastTask,
            plugin: worker.plugin.name,
            run: worker.lastRun
        )
    }

    private func progressed(_ frame: borrowing Frame, by worker: Worker) throws(WireError) {
        _ = try lane(of: frame.subject, in: worker)
        let progress = try Progress(frame)
        guard let index = runs.index(of: progress.run) else { return }
        runs[index]?.record.progress = RunProgress(
            done: progress.done,
            total: progress.total,
            phase: PrintableText.escaped(progress.phase)
        )
    }

    private func logged(_ frame: borrowing Frame, by worker: Worker) throws(WireError) {
        if frame.subject != 0 { _ = try lane(of: frame.subject, in: worker) }
        let line = try LogLine(frame)
        if line.dropped > 0 {
            log.write(
                .warning,
                "log.dropped",
                "\(line.dropped) lines came too fast and were dropped",
                plugin: worker.plugin.name
            )
        }
        note(
            line.text,
            of: worker,
            run: line.run == 0 ? nil : line.run,
            source: .handler,
            level: LogEntry.Level(rawValue: Int(line.level)) ?? .info
        )
    }

    private func refused(_ worker: Worker, _ refused: Refused) {
        let message = PrintableText.escaped(refused.message)
        for number in worker.runs {
            runs.index(of: number).map { runs[$0]?.record.message = message }
        }
        loadFailed(worker.plugin, message)
        for number in worker.runs { handle(.refused, of: number) }
        worker.state = .ending
        worker.killedFor = message
        setDeadline(worker, now &+ patience.finish)
    }

    // MARK: Sending

    func markDirty(_ worker: Worker) {
        guard !worker.isDirty else { return }
        worker.isDirty = true
        dirty.append(worker)
    }

    /// A run has been put into the worker's outbox.
    func markBusy(_ worker: Worker, run: RunRecord) {
        markDirty(worker)
        worker.lastRun = run.id
        worker.lastTask = run.task
        guard worker.audit == .max else { return }
        worker.audit = now &+ HostLimits.auditPeriod
        arm(worker.audit, token: TimerToken.audit(worker.serial).raw)
    }

    func flushWorkers() {
        // Not sooner: whoever waits for the end of a run that was stopped is told within its turn.
        if runsBeingStopped == 0 { reactor.isUrgent = false }
        guard !dirty.isEmpty else { return }
        for worker in dirty {
            worker.isDirty = false
            // What it is to load it is told once it is in its control group.
            guard worker.state != .gone, controlGroup == nil || worker.process != nil else {
                continue
            }
            if !worker.flush() {
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

    /// Sends a reply, and waits for room on the control socket if there is none.
    func sendReply(_ reply: Reply, to carrier: Carrier) {
        carrier.reply(reply)
        guard let worker = carrier as? Worker, worker.isControlBlocked else { return }
        if worker.isStuck {
            kill(worker, for: .tooManyCalls)
            return
        }
        try? reactor.watch(worker.control.raw, for: .output, token: worker.token(.control))
    }
}
