// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostWire

/// How workers end: told to, by themselves, or killed.
extension Host {
    /// Has a carrier finish: it takes no more runs, and ends when it has none.
    func retire(_ carrier: Carrier) {
        guard carrier.state == .live || carrier.state == .retiring || carrier.state == .loading
        else {
            return
        }
        carrier.state = .retiring
        guard carrier.isIdle else { return }
        carrier.state = .ending
        setDeadline(carrier, now &+ patience.finish)
        if let worker = carrier as? Worker {
            worker.outbox.frame(.finish, subject: 0)
            markDirty(worker)
        } else {
            closeInProcess(carrier)
        }
    }

    /// Ends a carrier without asking it.
    func retireNow(_ carrier: Carrier) {
        guard carrier.state != .gone else { return }
        carrier.state = .ending
        carrier.deadline = .max
        carrier.kill()
        if carrier is InProcessCarrier { abandon(carrier) }
    }

    /// A worker that broke the rules.
    func kill(_ worker: Worker, for fault: WireError) {
        log.write(
            .error,
            "worker.fault",
            "\(fault.sentence) (fault \(fault.rawValue)); pid \(worker.pid ?? 0) is killed",
            plugin: worker.plugin.name
        )
        worker.killedFor = fault.sentence
        crashed(worker.plugin, "its worker broke the protocol: \(fault.sentence)")
        for number in worker.runs { handle(.exceeded(.protocolFault(fault.rawValue)), of: number) }
        retireNow(worker)
    }

    /// The worker's process has ended.
    func processEnded(_ worker: Worker, _ end: ProcessExit) {
        readOutput(worker, .output)
        readOutput(worker, .error)
        worker.outputLines.finish { noteLine($0, of: worker, .output) }
        worker.errorLines.finish { noteLine($0, of: worker, .error) }
        if worker.sayings.dropped > 0 { tellDropped(worker.sayings.takeDropped(), of: worker) }
        if worker.killedFor == nil, let group = worker.group, ControlGroup.ranOutOfMemory(group) {
            // The kernel was quicker than the daemon: it is the same limit.
            exceeded(worker, .memory)
            worker.killedFor = KillReason.memory.text
        }
        // One without a run that hung up first is no longer in that state.
        let wasLoading =
            worker.state == .loading || worker.state == .retiring && worker.handlers.isEmpty
        let how: ProcessEnd = end.exited ? .exited(end.code) : .signalled(end.code)
        for number in worker.runs {
            guard let index = runs.index(of: number) else { continue }
            if worker.lanes.count == 1, runs[index]?.machine.beganAt != nil {
                let atBegin = runs[index]?.cpuAtBegin ?? 0
                runs[index]?.record.usage.cpu = .nanoseconds(max(0, end.cpuNanoseconds - atBegin))
            }
            if let peak = end.peakMemoryBytes { runs[index]?.record.usage.peakMemoryBytes = peak }
        }
        if wasLoading, worker.killedFor == nil {
            let message = worker.plugin.loadMessage("ended its worker (\(how.text))")
            loadFailed(worker.plugin, message)
            for number in worker.runs {
                runs.index(of: number).map { runs[$0]?.record.message = message }
            }
        } else if worker.state != .ending, worker.killedFor == nil {
            log.write(
                .warning,
                "worker.ended",
                "pid \(worker.pid ?? 0) ended by itself (\(how.text))",
                plugin: worker.plugin.name
            )
            crashed(worker.plugin, "its worker ended by itself (\(how.text))")
        }
        gone(worker, because: how)
    }

    /// Takes a worker out of the books and ends the runs that it still has.
    ///
    /// - Parameters:
    ///   - how: its process ended; `nil` if there was none.
    ///   - shortage: what the machine lacks for it, which ends no request.
    func gone(_ worker: Worker, because how: ProcessEnd?, shortage: String? = nil) {
        let isUnasked = worker.state != .ending || worker.killedFor != nil
        worker.state = .gone
        for channel in Worker.Channel.allCases {
            if let fd = worker.descriptor(channel) { reactor.unwatch(fd) }
        }
        worker.cpuTimer = nil
        for fetch in worker.fetches.values { fetch.task.cancel() }
        if let process = worker.process {
            process.giveUp()
            family.remove(process.pid)
            spawner.collect(process.pid, adoptsOrphans: configuration.isSubreaper)
        }
        if let group = worker.group {
            spawner.perform { ControlGroup.removeWhenEmpty(group) }
        }
        carriers[worker.serial] = nil
        worker.plugin.carriers[worker.serial] = nil
        worker.plugin.available.removeAll { $0 === worker }
        worker.plugin.letGoIfRetired()
        lookAtData(of: worker.plugin)
        for number in worker.runs {
            guard let how else {
                runs.index(of: number).map {
                    runs[$0]?.record.message = shortage ?? worker.plugin.problem?.message ?? ""
                }
                handle(shortage == nil ? .refused : .workerLost, of: number)
                continue
            }
            // A kill on behalf of one run is a loss to its neighbours, not a fault of theirs.
            let isVictim =
                worker.lanes.count > 1
                && runs.index(of: number).map { runs[$0]?.machine.state != .killing } == true
                && worker.killedFor != nil
            handle(isVictim ? .workerLost : .exited(how), of: number)
        }
        replace(worker, isUnasked: isUnasked)
        if worker.killedFor == nil, how != nil { dispatch() }
        checkDrained()
    }
}
