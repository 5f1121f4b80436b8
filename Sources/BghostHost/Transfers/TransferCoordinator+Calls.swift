// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostModel
internal import BghostServices
internal import BghostTransferRules
internal import BghostTransfer
internal import BghostWire
internal import BghostTransferBridge

/// Calls of plugins about transfers.
///
/// The engine has its own executor, so most calls are answered by a task when the engine returns. A
/// call counts as open until then.
extension TransferCoordinator {
    /// Handles a call of a plugin about transfers.
    func called(_ call: Call, _ executor: any RunExecutor, _ transfer: TransferCall) {
        switch transfer {
        case .begin(let begin): beginTransfer(call, executor, begin)
        case .wait(let id): waitForTransfer(call, executor, id)
        case .cancel(let id): cancelTransfer(call, executor, id)
        case .acknowledge(let id): acknowledgeTransfer(call, executor, id)
        case .list(let session, let after, let bytesMax):
            listTransfers(call, executor, session, after, Int(bytesMax))
        case .took: break
        case .keep(let ids): keepEnds(call, executor, ids)
        case .claim(let session, let bytesMax):
            claimEnds(call, executor, session, Int(bytesMax))
        }
    }

    // MARK: Creation

    private func beginTransfer(_ call: Call, _ executor: any RunExecutor, _ begin: TransferBegin) {
        let plugin = executor.plugin.name
        let shown = PrintableText.escaped(begin.session)
        guard let table, let session = table.session(begin.session, of: plugin)
        else {
            replies.refuse(
                call,
                executor,
                CallStatus.permission,
                "plugin `\(plugin)` has no session `\(shown)`: add `\"\(shown)\": {\"plugin\":"
                    + " \"\(plugin)\"}` to `sessions` in \(manifestPath)"
            )
            return
        }
        guard let run = runs.run(call.run) else {
            return replies.answer(call, executor, CallStatus.stale)
        }
        var request: TransferRequest
        do {
            let now = clock.wall
            request = try TransferRequest(
                begin,
                id: table.nextID(unixNanoseconds: now),
                session: session,
                dataDirectory: executor.plugin.dataDirectory,
                epoch: run.record.epoch,
                now: now
            )
        } catch {
            return replies.refuse(call, executor, .of(error.code), Self.refusal(plugin, error))
        }
        if let trace = run.record.trace { request.keep(trace.context) }
        measureData(executor.plugin.name)
        // Record the run before the transfer can end, because the run may be about to wait for it.
        table.begun.begin(request.id, by: call.run)
        noteRenewal(call.run, table)
        let serial = executor.serial
        let (engine, delivery) = (table.engine, table.lastDelivery)
        replies.open(executor)
        // The task is not awaited; it answers the call when the transfer is in the journal.
        Task { [reference, request] in
            await delivery?.value
            let result: Result<TransferEngine.Created, any Error>
            do {
                result = .success(try await engine.create(request))
            } catch {
                result = .failure(error)
            }
            reference.perform { [result] in $0.began(request.id, call, serial, result) }
        }
    }

    private func began(
        _ id: RunID,
        _ call: Call,
        _ serial: UInt32,
        _ result: Result<TransferEngine.Created, any Error>
    ) {
        let isOver = runs.run(call.run) == nil
        if let table {
            switch result {
            case .success(let created):
                let other = created.isNew ? nil : created.id
                table.begun.taken(id, as: other, by: call.run, isOver: isOver)
            case .failure: table.begun.refused(id)
            }
            // The transfer may have ended in the meantime.
            if isOver { for key in table.ends.keys { submitWakeIfComplete(key) } }
        }
        guard let executor = replies.close(serial) else { return }
        switch result {
        case .success(let created):
            let reply = Reply(
                call: call.number,
                status: CallStatus.ok,
                body: .transfer(id: created.id.description)
            )
            replies.send(reply, to: executor)
        case .failure(let fault as TransferFault):
            replies.refuse(
                call,
                executor,
                .of(fault.code),
                Self.refusal(executor.plugin.name, fault)
            )
        case .failure(let error):
            replies.refuse(
                call,
                executor,
                CallStatus.failed,
                "a transfer of plugin `\(executor.plugin.name)` cannot be written down: \(error)"
            )
        }
    }

    private static func refusal(_ plugin: String, _ fault: TransferFault) -> String {
        "a transfer of plugin `\(plugin)` is refused: \(fault.detail)"
    }

    /// Records that a run which received ended transfers creates new ones; this limits the wakes.
    private func noteRenewal(_ run: UInt64, _ table: TransferTable) {
        guard let wake = table.runningWakes[run], table.renewers.insert(run).inserted else {
            return
        }
        table.limiters[wake.session, default: WakeLimiter(base: wakePause)].created(
            now: clock.uptime
        )
    }

    // MARK: Waiting

    private func waitForTransfer(_ call: Call, _ executor: any RunExecutor, _ text: String) {
        guard let table, let id = RunID(text) else {
            return replies.answer(call, executor, CallStatus.absent)
        }
        guard let run = runs.run(call.run), executor.transferWaits[call.number] == nil
        else { return replies.answer(call, executor, CallStatus.cancelled) }
        // An end that was sent stays in the table until the plugin acknowledges it.
        guard executor.transferWaits.count < HostLimits.callsMax else {
            return replies.answer(call, executor, CallStatus.limit)
        }
        // A cancelled run is not cancelled again, so nothing would end this wait.
        guard run.record.stopReason == nil else {
            return replies.answer(call, executor, CallStatus.cancelled)
        }
        let serial = executor.serial
        let number = call.number
        let (engine, delivery) = (table.engine, table.lastDelivery)
        let plugin = executor.plugin.name
        replies.open(executor)
        // The task is not awaited; `detachTransfers` and the end of the run cancel it.
        let task = Task { [reference] in
            await delivery?.value
            let record = await engine.take(id, of: plugin)
            reference.perform { $0.transferEnded(number, serial, id, record) }
        }
        executor.transferWaits[number] = ExecutorSlots.OpenTransferWait(
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
        guard let executor = executors[serial], let wait = executor.transferWaits[number],
            runs.run(wait.run) != nil
        else {
            if let executor = executors[serial], executor.transferWaits[number] != nil {
                executor.transferWaits[number] = nil
                replies.close(executor)
            }
            if record != nil { giveBack(id) }
            return
        }
        replies.close(executor)
        guard let record else {
            executor.transferWaits[number] = nil
            let status = wait.isDetached ? CallStatus.cancelled : CallStatus.absent
            return replies.send(Reply(call: number, status: status), to: executor)
        }
        executor.transferWaits[number]?.isHandedOut = true
        if let table, table.remove([id], from: record.sessionKey) {
            withdrawWake(record.sessionKey)
        }
        var writer = JSONWriter()
        writer.value(TransferDescription(record))
        let reply = Reply(
            call: number,
            status: CallStatus.ok,
            body: .transfers(.inline(writer.bytes))
        )
        replies.send(reply, to: executor)
    }

    /// Removes a wait when the plugin has acknowledged the end of its transfer.
    func endWasTaken(_ number: UInt64, _ executor: any RunExecutor) {
        guard let wait = executor.transferWaits[number], wait.isHandedOut else { return }
        executor.transferWaits[number] = nil
        table?.begun.finished(wait.transfer)
        guard let table else { return }
        send(to: table) { engine in await engine.confirm(wait.transfer) }
    }

    /// Detaches the transfers of a cancelled run; they continue without it.
    func detachTransfers(of run: UInt64, in executor: any RunExecutor) {
        guard let table else { return }
        var awaited: [RunID] = []
        for (number, wait) in executor.transferWaits where wait.run == run && !wait.isHandedOut {
            executor.transferWaits[number]?.isDetached = true
            wait.task.cancel()
            awaited.append(wait.transfer)
        }
        guard table.begun.cancelled(run, awaiting: awaited) else { return }
        for key in table.ends.keys where key.plugin == executor.plugin.name {
            submitWakeIfComplete(key)
        }
    }

    /// Ends the waits of an ended run; unacknowledged ends go to the session's next wake.
    func endWaits(of run: UInt64, in executor: any RunExecutor) {
        guard !executor.transferWaits.isEmpty else { return }
        for (number, wait) in executor.transferWaits where wait.run == run {
            if wait.isHandedOut {
                executor.transferWaits[number] = nil
                giveBack(wait.transfer)
            } else {
                executor.transferWaits[number]?.isDetached = true
                wait.task.cancel()
            }
        }
    }

    private func giveBack(_ id: RunID) {
        guard let table else { return }
        send(to: table) { engine in await engine.giveBack(id) }
    }

    // MARK: Other calls

    private func cancelTransfer(_ call: Call, _ executor: any RunExecutor, _ text: String) {
        ask(call, executor, text) { [reference] engine, record in
            guard !record.status.state.isTerminal else { return false }
            let id = record.request.id
            await engine.cancel(id)
            reference.perform { $0.table?.begun.gaveUp(id) }
            return true
        }
    }

    private func acknowledgeTransfer(_ call: Call, _ executor: any RunExecutor, _ text: String) {
        ask(call, executor, text) { [reference] _, record in
            guard record.status.state.isTerminal else { return false }
            reference.perform { $0.acknowledge(record) }
            return true
        }
    }

    private func acknowledge(_ record: TransferRecord) {
        guard let table else { return }
        acknowledge([record.request.id], of: record.sessionKey, table)
    }

    /// Performs an operation on a transfer of the plugin; answers `BG_E_ABSENT` if it has none.
    private func ask(
        _ call: Call,
        _ executor: any RunExecutor,
        _ text: String,
        _ body: @escaping @Sendable (TransferEngine, TransferRecord) async -> Bool
    ) {
        guard let table, let id = RunID(text) else {
            return replies.answer(call, executor, CallStatus.absent)
        }
        let (engine, delivery) = (table.engine, table.lastDelivery)
        let plugin = executor.plugin.name
        reply(to: call, of: executor) {
            await delivery?.value
            guard let record = await engine.find(id, of: plugin), await body(engine, record) else {
                return Reply(call: call.number, status: CallStatus.absent)
            }
            return Reply(call: call.number, status: CallStatus.ok)
        }
    }

    private func listTransfers(
        _ call: Call,
        _ executor: any RunExecutor,
        _ session: String,
        _ after: String,
        _ bytesMax: Int
    ) {
        let last = after.isEmpty ? nil : RunID(after)
        guard after.isEmpty == (last == nil) else {
            return replies.answer(call, executor, CallStatus.argument)
        }
        guard let table else { return replies.answer(call, executor, CallStatus.permission) }
        let (engine, delivery) = (table.engine, table.lastDelivery)
        let (plugin, serial) = (executor.plugin.name, executor.serial)
        reply(to: call, of: executor) { [reference] in
            await delivery?.value
            let all = await engine.list(plugin: plugin)
            // Each takes about a microsecond.
            reference.perform { $0.executors[serial]?.plugin.calls.charge(steps: all.count * 32) }
            let views = all.filter { view in
                view.record.request.session == session
                    && last.map { view.record.request.id > $0 } ?? true
            }
            let page = TransferPage(
                of: views.map { TransferDescription($0.record, bytes: $0.bytes) },
                bytesMax: bytesMax == 0 ? Self.listBytesMax : min(bytesMax, Self.listBytesMax)
            )
            return Self.answer(to: call, page, bytesMax)
        }
    }

    /// A list of transfers, or its size if the plugin's buffer is too small.
    static func answer(to call: Call, _ page: TransferPage, _ bytesMax: Int) -> Reply {
        let count = page.need ?? page.json.utf8.count
        guard bytesMax < count else {
            let json = Array(page.json.utf8)
            let body = Reply.Body.transfers(.inline(json))
            return Reply(call: call.number, status: CallStatus.ok, body: body)
        }
        let status = bytesMax == 0 ? CallStatus.ok : CallStatus.small
        return Reply(call: call.number, status: status, body: .needs(UInt64(count)))
    }

    /// The maximum size of one list, in bytes.
    static var listBytesMax: Int { 1 << 20 }

    /// Answers a call with the result of an asynchronous function.
    private func reply(
        to call: Call,
        of executor: any RunExecutor,
        _ body: @escaping @Sendable () async -> Reply
    ) {
        let serial = executor.serial
        replies.open(executor)
        // The task is not awaited; it ends with the engine's answer.
        Task { [reference] in
            let reply = await body()
            reference.perform { $0.send(reply, to: serial) }
        }
    }

    private func send(_ reply: Reply, to serial: UInt32) {
        guard let executor = replies.close(serial) else { return }
        replies.send(reply, to: executor)
    }
}

extension Int32 {
    /// The status of the reply to a refused transfer.
    fileprivate static func of(_ code: TransferFault.Code) -> Int32 {
        switch code {
        case .forbidden: CallStatus.permission
        case .badRequest, .file, .badRedirect: CallStatus.argument
        case .tooLarge: CallStatus.limit
        default: CallStatus.failed
        }
    }
}
