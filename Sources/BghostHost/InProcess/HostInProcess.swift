// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostPlugin
internal import BghostTrust
internal import BghostWire

/// Plugins inside the daemon.
extension Host {
    func addInProcess(for plugin: PluginSlot) throws(CarrierError) -> Carrier {
        guard case .plugin(let definition) = plugin.code, let path = plugin.path else {
            throw CarrierError(description: "`\(plugin.name)` cannot be loaded into the daemon")
        }
        try plugin.requireHeld()
        // One image in the daemon, and so one carrier, which has a lane for every slot.
        guard plugin.carriers.isEmpty else {
            throw CarrierError(description: "`\(plugin.name)` has no free lane in the daemon")
        }
        // Its threads begin where this one is, and stay.
        letGo()
        let serial = nextSerial()
        let carrier = InProcessCarrier(
            serial: serial,
            plugin: plugin,
            lanes: min(slotsMax, Int(Lane.max)),
            config: definition.config,
            hostVersion: configuration.version,
            voice: InProcessVoice { [weak self, reactor] in
                // Awaited by nobody: it only brings the host to look. Not by way of the global pool,
                // whose thread would have to be woken first.
                Task(executorPreference: reactor) { await self?.listen(to: serial) }
            }
        )
        guard carrier.starts.begin(), carrier.control.begin() else {
            for thread in [carrier.starts, carrier.control] { thread.end() }
            throw CarrierError(description: "no thread can be made for it", isShortage: true)
        }
        let runtime = carrier.runtime
        let held = plugin.held
        if let held { librariesInDaemon.append(held) }
        // What crashes in there takes the daemon with it, and must not do so each time that it is started.
        state.beginLoading(plugin.name)
        carrier.starts.perform { [weak self, state, name = plugin.name] in
            let result = Result { () throws(PluginRefusal) in
                try runtime.load(path: path, held: held?.descriptor)
            }
            state.endLoading(name)
            let ready = runtime.readiness
            Task { await self?.loadedInProcess(serial, result, ready) }
        }
        return carrier
    }

    private func loadedInProcess(
        _ serial: UInt32,
        _ result: Result<Void, PluginRefusal>,
        _ ready: Ready?
    ) {
        guard let carrier = carriers[serial] as? InProcessCarrier, carrier.state == .loading else {
            return
        }
        if case .success = result, let ready {
            becameReady(carrier, ready)
            return
        }
        let message =
            if case .failure(let refusal) = result {
                refusal.message
            } else {
                "`\(carrier.plugin.name)` cannot be loaded into the daemon"
            }
        loadFailed(carrier.plugin, message)
        let numbers = carrier.runs
        forget(carrier)
        for number in numbers {
            runs.index(of: number).map { runs[$0]?.record.message = message }
            handle(.refused, of: number)
        }
    }

    /// Takes what a plugin in the daemon has said.
    private func listen(to serial: UInt32) {
        guard let carrier = carriers[serial] as? InProcessCarrier else { return }
        for saying in carrier.voice.take() {
            switch saying {
            case .completed(let completion): completed(completion, by: carrier)
            case .released(let run):
                let lane = Lane.of(run)
                if lane < carrier.lanes.count, carrier.lanes[lane] == run {
                    released(carrier, lane)
                }
            case .progress(let progress):
                guard let index = runs.index(of: progress.run) else { continue }
                runs[index]?.record.progress = RunProgress(
                    done: progress.done,
                    total: progress.total,
                    phase: PrintableText.escaped(progress.phase)
                )
            case .log(let line):
                note(
                    line.text,
                    of: carrier,
                    run: line.run == 0 ? nil : line.run,
                    source: .handler,
                    level: LogEntry.Level(rawValue: Int(line.level)) ?? .info
                )
            case .call(let call):
                if (try? called(call, by: carrier)) == nil {
                    sendReply(Reply(call: call.number, status: CallStatus.limit), to: carrier)
                }
            }
        }
    }

    private func completed(_ completion: Completed, by carrier: InProcessCarrier) {
        guard let index = runs.index(of: completion.run) else { return }
        carrier.hasReleased[Lane.of(completion.run)] = completion.isReleased
        note(completion, index)
        handle(.completed(status: completion.status), of: completion.run)
    }

    /// A run did not stop.
    ///
    /// The plugin is not used again in this daemon: its state is unknown.
    func abandon(_ carrier: Carrier) {
        let plugin = carrier.plugin
        let message =
            "a run of `\(plugin.name)` inside the daemon did not stop and was abandoned; restart"
            + " bghost to use it again, or set `\"isolation\": \"worker\"`"
        let numbers = carrier.runs
        forget(carrier)
        plugin.problem = PluginProblem(message: message, file: plugin.path.flatMap(fileIdentity))
        log.write(.error, "plugin.abandoned", message, plugin: plugin.name)
        tellProblem(of: plugin)
        for number in numbers { handle(.workerLost, of: number) }
        checkDrained()
    }

    func closeInProcess(_ carrier: Carrier) {
        guard let carrier = carrier as? InProcessCarrier else { return }
        let serial = carrier.serial
        let runtime = carrier.runtime
        carrier.starts.perform { [weak self] in
            runtime.drain()
            runtime.close()
            Task { await self?.closedInProcess(serial) }
        }
    }

    private func closedInProcess(_ serial: UInt32) {
        guard let carrier = carriers[serial] as? InProcessCarrier else { return }
        carrier.kill()
        forget(carrier)
        checkDrained()
    }

    private func forget(_ carrier: Carrier) {
        carrier.state = .gone
        for fetch in carrier.fetches.values { fetch.task.cancel() }
        carriers[carrier.serial] = nil
        carrier.plugin.carriers[carrier.serial] = nil
        carrier.plugin.available.removeAll { $0 === carrier }
    }
}

extension PluginRuntime {
    /// What the loaded plugin is, in the words of the wire.
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
