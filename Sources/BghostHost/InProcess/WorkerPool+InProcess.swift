// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostInspection
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostPlugin
internal import BghostPolicy
internal import BghostTrust
internal import BghostWire
internal import Synchronization

/// Held libraries that were loaded into this process.
///
/// Their descriptors stay open as long as the process, even after the host has stopped: images are
/// never unloaded, and the dynamic loader identifies them by descriptor number. If a number were
/// reused, the loader would take another library for this one.
private enum LoadedLibraries {
    private static let all = Mutex<[HeldLibrary]>([])

    static func keep(_ libraries: [HeldLibrary]) {
        all.withLock { $0 += libraries }
    }
}

/// Plugins that run inside the daemon.
extension WorkerPool {
    func addInProcess(for plugin: PluginSlot) throws(RunExecutorError) -> InProcessExecutor {
        guard case .plugin(let definition) = plugin.code, let path = plugin.path else {
            throw RunExecutorError(description: "`\(plugin.name)` cannot be loaded into the daemon")
        }
        try plugin.requireHeld()
        // The daemon loads one image, so there is one executor, with one slot for each slot of the host.
        guard plugin.executors.isEmpty else {
            throw RunExecutorError(description: "`\(plugin.name)` has no free slot in the daemon")
        }
        // New threads inherit the affinity of this thread, so unpin it first.
        unpinAll()
        let serial = executors.nextSerial()
        let executor = InProcessExecutor(
            serial: serial,
            plugin: plugin,
            slotCount: min(dispatcher.scheduler.settings.slots, Int(WorkerSlot.max)),
            config: definition.config,
            hostVersion: configuration.version,
            events: InProcessEvents { [reference] in
                reference.perform { $0.listen(to: serial) }
            }
        )
        guard executor.starts.begin(), executor.control.begin() else {
            for thread in [executor.starts, executor.control] { thread.end() }
            throw RunExecutorError(description: "no thread can be made for it", isShortage: true)
        }
        let runtime = executor.runtime
        let held = plugin.held
        let needs = plugin.libraries.compactMap(\.held)
        if let held { LoadedLibraries.keep([held] + needs) }
        // A crash during the load crashes the daemon. Record the load, so that it is not repeated
        // at each start.
        state.beginLoading(plugin.name)
        executor.starts.perform { [reference, state, digests, name = plugin.name] in
            let digest = held?.sha256 ?? digests.digest(of: path)
            let result = Result { () throws(PluginRefusal) in
                try runtime.load(
                    path: path,
                    held: held?.descriptor,
                    heldNeeds: held == nil ? [] : needs.map(\.descriptor)
                )
            }
            state.endLoading(name)
            let ready = runtime.readiness
            reference.perform { $0.loadedInProcess(serial, result, ready, digest: digest) }
        }
        return executor
    }

    private func loadedInProcess(
        _ serial: UInt32,
        _ result: Result<Void, PluginRefusal>,
        _ ready: Ready?,
        digest: String
    ) {
        guard let executor = executors.inProcess(serial), executor.state == .loading
        else {
            return
        }
        executor.libraryDigest = digest
        if case .success = result, let ready {
            becameReady(executor, ready)
            return
        }
        let message =
            if case .failure(let refusal) = result {
                refusal.message
            } else {
                "`\(executor.plugin.name)` cannot be loaded into the daemon"
            }
        registry.loadFailed(executor.plugin, message)
        let numbers = executor.runs
        forget(executor)
        for number in numbers {
            supervisor.note(message: message, of: number)
            supervisor.handle(.refused, of: number)
        }
    }

    /// Handles the events of a plugin in the daemon.
    private func listen(to serial: UInt32) {
        guard let executor = executors.inProcess(serial) else { return }
        for event in executor.events.take() {
            switch event {
            case .completed(let completion): completed(completion, by: executor)
            case .released(let run):
                let slotIndex = WorkerSlot.of(run)
                if slotIndex < executor.runOfSlot.count, executor.runOfSlot[slotIndex] == run {
                    released(executor, slotIndex)
                }
            case .progress(let progress):
                supervisor.noteProgress(
                    of: progress.run,
                    done: progress.done,
                    total: progress.total,
                    phase: progress.phase
                )
            case .log(let line):
                note(
                    line.text,
                    of: executor,
                    run: line.run == 0 ? nil : line.run,
                    source: .handler,
                    level: LogEntry.Level(rawValue: Int(line.level)) ?? .info
                )
            case .call(let call):
                // For a worker this would be a protocol fault; an in-process plugin gets an error instead.
                if (try? calls.called(call, by: executor)) == nil {
                    replies.send(Reply(call: call.number, status: CallStatus.limit), to: executor)
                }
            }
        }
    }

    private func completed(_ completion: Completed, by executor: InProcessExecutor) {
        guard let index = runs.index(of: completion.run) else { return }
        executor.hasReleased[WorkerSlot.of(completion.run)] = completion.isReleased
        supervisor.note(completion, index)
        supervisor.handle(.completed(status: completion.status), of: completion.run)
    }

    /// Abandons the runs of an in-process executor that did not stop.
    ///
    /// The plugin is not used again in this daemon, because its state is unknown.
    func abandon(_ executor: any RunExecutor) {
        let numbers = executor.runs
        forget(executor)
        registry.abandoned(executor.plugin)
        for number in numbers { supervisor.handle(.workerLost, of: number) }
        onEnd()
    }

    /// Lets a plugin in the daemon finish on its own thread.
    func closeInProcess(_ executor: InProcessExecutor) {
        let serial = executor.serial
        let runtime = executor.runtime
        executor.starts.perform { [reference] in
            runtime.drain()
            runtime.close()
            reference.perform { $0.closedInProcess(serial) }
        }
    }

    private func closedInProcess(_ serial: UInt32) {
        guard let executor = executors.inProcess(serial) else { return }
        executor.stop()
        forget(executor)
        onEnd()
    }

    private func forget(_ executor: any RunExecutor) {
        executor.state = .gone
        for fetch in executor.fetches.values { fetch.task.cancel() }
        executors.remove(executor)
        executor.plugin.executors[executor.serial] = nil
        executor.plugin.available.removeAll { $0 === executor }
    }
}

extension PluginRuntime {
    /// A description of the loaded plugin as a `Ready` frame.
    fileprivate var readiness: Ready? {
        plugin.map { plugin in
            Ready(
                id: plugin.id,
                version: plugin.version,
                vendor: plugin.vendor,
                handlers: plugin.handlers.map {
                    Ready.Handler(name: $0.name, flags: $0.flags.rawValue)
                }
            )
        }
    }
}
