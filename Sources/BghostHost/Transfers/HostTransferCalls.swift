// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostTransfer
internal import BghostWire

/// What plugins ask of their transfers.
///
/// The engine has an executor of its own, so most of it is asked for in a task and answered when that
/// comes back; a call counts as open until then.
extension Host {
    func transferCalled(_ call: Call, _ carrier: Carrier, _ transfer: TransferCall) {
        switch transfer {
        case .begin(let begin): beginTransfer(call, carrier, begin)
        case .wait(let id): waitForTransfer(call, carrier, id)
        case .cancel(let id): cancelTransfer(call, carrier, id)
        case .acknowledge(let id): acknowledgeTransfer(call, carrier, id)
        case .list(let session, let after, let bytesMax):
            listTransfers(call, carrier, session, after, Int(bytesMax))
        case .took: break
        }
    }

    // MARK: Beginning

    private func beginTransfer(_ call: Call, _ carrier: Carrier, _ begin: TransferBegin) {
        let plugin = carrier.plugin.name
        let shown = PrintableText.escaped(begin.session)
        guard let table = transferTable, let session = table.session(begin.session, of: plugin)
        else {
            refuse(
                call,
                carrier,
                CallStatus.permission,
                "plugin `\(plugin)` has no session `\(shown)`: add `\"\(shown)\": {\"plugin\":"
                    + " \"\(plugin)\"}` to `sessions` in \(configuration.manifestPath)"
            )
            return
        }
        guard runs.index(of: call.run) != nil else {
            return answer(call, carrier, CallStatus.stale)
        }
        let request: TransferRequest
        do {
            let now = wall
            request = try TransferRequest(
                begin,
                id: table.nextID(unixNanoseconds: now),
                session: session,
                dataDirectory: carrier.plugin.dataDirectory,
                now: now
            )
        } catch {
            return refuse(call, carrier, .of(error.code), Self.refusal(plugin, error))
        }
        // Before it can end: its run may be about to wait for it.
        table.beganBy[request.id] = call.run
        noteRenewal(call.run, table)
        let serial = carrier.serial
        let engine = table.engine
        carrier.openCalls += 1
        // Awaited by nobody; it is answered when the transfer is written down.
        Task { [weak self] in
            let result: Result<TransferEngine.Created, any Error>
            do {
                result = .success(try await engine.create(request))
            } catch {
                result = .failure(error)
            }
            await self?.began(request.id, call, serial, result)
        }
    }

    private func began(
        _ id: RunID,
        _ call: Call,
        _ serial: UInt32,
        _ result: Result<TransferEngine.Created, any Error>
    ) {
        let isOver = runs.index(of: call.run) == nil
        if let table = transferTable {
            if isOver { table.beganBy[id] = nil }
            if case .success(let created) = result, !created.isNew {
                table.beganBy[id] = nil
                if !isOver { table.beganBy[created.id] = call.run }
            } else if case .failure = result {
                table.beganBy[id] = nil
            }
            // It may have ended meanwhile.
            if isOver { for key in table.ends.keys { considerWake(key) } }
        }
        guard let carrier = carriers[serial] else { return }
        carrier.openCalls -= 1
        switch result {
        case .success(let created):
            let reply = Reply(
                call: call.number,
                status: CallStatus.ok,
                body: .transfer(id: created.id.description)
            )
            sendReply(reply, to: carrier)
        case .failure(let fault as TransferFault):
            refuse(call, carrier, .of(fault.code), Self.refusal(carrier.plugin.name, fault))
        case .failure(let error):
            refuse(
                call,
                carrier,
                CallStatus.failed,
                "a transfer of plugin `\(carrier.plugin.name)` cannot be written down: \(error)"
            )
        }
    }

    private static func refusal(_ plugin: String, _ fault: TransferFault) -> String {
        "a transfer of plugin `\(plugin)` is refused: \(fault.detail)"
    }

    /// A run that was told of ends begins new transfers.
    private func noteRenewal(_ run: UInt64, _ table: TransferTable) {
        guard let told = table.told[run], table.renewers.insert(run).inserted else { return }
        table.limiters[told.session, default: WakeLimiter()].created(now: wall)
    }

    // MARK: Waiting

    private func waitForTransfer(_ call: Call, _ carrier: Carrier, _ text: String) {
        guard let table = transferTable, let id = RunID(text) else {
            return answer(call, carrier, CallStatus.absent)
        }
        guard let index = runs.index(of: call.run), let run = runs[index],
            carrier.transferWaits[call.number] == nil
        else { return answer(call, carrier, CallStatus.cancelled) }
        // An end that was handed out stays in the table until the plugin says that it has it.
        guard carrier.transferWaits.count < HostLimits.callsMax else {
            return answer(call, carrier, CallStatus.limit)
        }
        // Who has been told to stop would not be told again.
        guard run.record.stopReason == nil else {
            return answer(call, carrier, CallStatus.cancelled)
        }
        let serial = carrier.serial
        let number = call.number
        let engine = table.engine
        let plugin = carrier.plugin.name
        carrier.openCalls += 1
        // Awaited by nobody; `letGoOfTransfers` and the end of the run cancel it.
        let task = Task { [weak self] in
            let record = await engine.take(id, of: plugin)
            guard let self else { return }
            await self.transferEnded(number, serial, id, record)
        }
        carrier.transferWaits[number] = Carrier.OpenTransferWait(
            run: call.run,
            transfer: id,
            task: task
        )
    }

    private func transferEnded(
        _ number: UInt64,
        _ serial: UInt32,
        _ id: RunID,
        _ record: TransferRecord?
    ) {
        guard let carrier = carriers[serial], let wait = carrier.transferWaits[number],
            runs.index(of: wait.run) != nil
        else {
            if let carrier = carriers[serial], carrier.transferWaits[number] != nil {
                carrier.transferWaits[number] = nil
                carrier.openCalls -= 1
            }
            if record != nil { giveBack(id) }
            return
        }
        carrier.openCalls -= 1
        guard let record else {
            carrier.transferWaits[number] = nil
            let status = wait.isLetGo ? CallStatus.cancelled : CallStatus.absent
            return sendReply(Reply(call: number, status: status), to: carrier)
        }
        carrier.transferWaits[number]?.isHandedOut = true
        if let table = transferTable, table.remove([id], from: record.sessionKey) {
            withdrawWake(record.sessionKey)
        }
        var writer = JSONWriter()
        writer.value(TransferDescription(record))
        let reply = Reply(
            call: number,
            status: CallStatus.ok,
            body: .transfers(.inline(writer.bytes))
        )
        sendReply(reply, to: carrier)
    }

    /// The plugin has the end that it waited for.
    func transferWasTaken(_ number: UInt64, _ carrier: Carrier) {
        guard let wait = carrier.transferWaits[number], wait.isHandedOut else { return }
        carrier.transferWaits[number] = nil
        transferTable?.beganBy[wait.transfer] = nil
        guard let table = transferTable else { return }
        tell(table) { engine in await engine.confirm(wait.transfer) }
    }

    /// A run is to stop: its transfers go on without it.
    func letGoOfTransfers(of run: UInt64, in carrier: Carrier) {
        for (number, wait) in carrier.transferWaits where wait.run == run && !wait.isHandedOut {
            carrier.transferWaits[number]?.isLetGo = true
            wait.task.cancel()
        }
        if let table = transferTable, table.beganBy.values.contains(run) {
            table.beganBy = table.beganBy.filter { $0.value != run }
            for key in table.ends.keys where key.plugin == carrier.plugin.name { considerWake(key) }
        }
    }

    /// A run is over: what it did not take is told to its session.
    func endTransferWaits(of run: UInt64, in carrier: Carrier) {
        guard !carrier.transferWaits.isEmpty else { return }
        for (number, wait) in carrier.transferWaits where wait.run == run {
            if wait.isHandedOut {
                carrier.transferWaits[number] = nil
                giveBack(wait.transfer)
            } else {
                carrier.transferWaits[number]?.isLetGo = true
                wait.task.cancel()
            }
        }
    }

    private func giveBack(_ id: RunID) {
        guard let table = transferTable else { return }
        tell(table) { engine in await engine.giveBack(id) }
    }

    // MARK: The rest

    private func cancelTransfer(_ call: Call, _ carrier: Carrier, _ text: String) {
        ask(call, carrier, text) { engine, record in
            guard !record.status.state.isTerminal else { return false }
            await engine.cancel(record.request.id)
            return true
        }
    }

    private func acknowledgeTransfer(_ call: Call, _ carrier: Carrier, _ text: String) {
        ask(call, carrier, text) { [weak self] _, record in
            guard record.status.state.isTerminal else { return false }
            await self?.acknowledge(record)
            return true
        }
    }

    private func acknowledge(_ record: TransferRecord) {
        guard let table = transferTable else { return }
        acknowledge([record.request.id], of: record.sessionKey, table)
    }

    /// Does something with a transfer of the plugin, and answers whether there is such a one.
    private func ask(
        _ call: Call,
        _ carrier: Carrier,
        _ text: String,
        _ body: @escaping @Sendable (TransferEngine, TransferRecord) async -> Bool
    ) {
        guard let engine = transferTable?.engine, let id = RunID(text) else {
            return answer(call, carrier, CallStatus.absent)
        }
        let plugin = carrier.plugin.name
        reply(to: call, of: carrier) {
            guard let record = await engine.find(id, of: plugin), await body(engine, record) else {
                return Reply(call: call.number, status: CallStatus.absent)
            }
            return Reply(call: call.number, status: CallStatus.ok)
        }
    }

    private func listTransfers(
        _ call: Call,
        _ carrier: Carrier,
        _ session: String,
        _ after: String,
        _ bytesMax: Int
    ) {
        let last = after.isEmpty ? nil : RunID(after)
        guard after.isEmpty == (last == nil) else {
            return answer(call, carrier, CallStatus.argument)
        }
        guard let engine = transferTable?.engine else {
            return answer(call, carrier, CallStatus.permission)
        }
        let plugin = carrier.plugin.name
        reply(to: call, of: carrier) {
            let views = await engine.list(plugin: plugin).filter { view in
                view.record.request.session == session
                    && last.map { view.record.request.id > $0 } ?? true
            }
            let page = TransferPage(
                of: views.map { TransferDescription($0.record, bytes: $0.bytes) },
                bytesMax: bytesMax == 0 ? Self.listBytesMax : min(bytesMax, Self.listBytesMax)
            )
            let count = page.need ?? page.json.utf8.count
            if bytesMax < count {
                return Reply(
                    call: call.number,
                    status: bytesMax == 0 ? CallStatus.ok : CallStatus.small,
                    body: .needs(UInt64(count))
                )
            }
            return Reply(
                call: call.number,
                status: CallStatus.ok,
                body: .transfers(.inline(Array(page.json.utf8)))
            )
        }
    }

    /// The most of one list.
    private static var listBytesMax: Int { 1 << 20 }

    /// Answers a call with what a task brings back.
    private func reply(
        to call: Call,
        of carrier: Carrier,
        _ body: @escaping @Sendable () async -> Reply
    ) {
        let serial = carrier.serial
        carrier.openCalls += 1
        // Awaited by nobody: it ends with the engine's answer.
        Task { [weak self] in
            let reply = await body()
            await self?.send(reply, to: serial)
        }
    }

    private func send(_ reply: Reply, to serial: UInt32) {
        guard let carrier = carriers[serial] else { return }
        carrier.openCalls -= 1
        sendReply(reply, to: carrier)
    }
}

extension Int32 {
    /// What a plugin is told of a transfer that is refused.
    fileprivate static func of(_ code: TransferFault.Code) -> Int32 {
        switch code {
        case .forbidden: CallStatus.permission
        case .badRequest, .file, .badRedirect: CallStatus.argument
        case .tooLarge: CallStatus.limit
        default: CallStatus.failed
        }
    }
}
