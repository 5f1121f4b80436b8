// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostTransferRules

/// Feeds events to the state machines of transfers and carries out their effects.
extension TransferEngine {
    func handle(_ id: RunID, _ event: TransferMachine.Event) {
        guard !isShutDown, var entry = live[id] else { return }
        let before = entry.machine.status
        var effects: [TransferMachine.Effect] = []
        entry.machine.handle(
            event,
            now: clock.now,
            unixNow: clock.unixNow,
            random: random,
            &effects
        )
        entry.record.status = entry.machine.status
        if let answer = entry.record.status.answer {
            // An end cannot be refused; what a server answered must fit beside the plugin's other transfers.
            entry.record.status.answer = nil
            charge(entry.record)
            entry.record.status.answer = answer.fitted(in: room(entry.record.request.plugin))
            charge(entry.record)
        }
        live[id] = entry
        var end: TransferRecord?
        for effect in effects { execute(effect, id, &end) }
        if entry.machine.status != before { observer?.transferChanged(entry.record) }
        // After the observer has been told: who waits for the end sees all that it brings.
        if let end {
            for taker in entry.takers.values { taker.resume(returning: end) }
            for waiter in entry.waiters.values { waiter.resume(returning: end) }
        }
        grantSlots()
    }

    private func execute(
        _ effect: TransferMachine.Effect,
        _ id: RunID,
        _ end: inout TransferRecord?
    ) {
        guard let entry = live[id] else { return }
        switch effect {
        case .arm(let moment): arm(id, moment)
        case .requestSlot: slots.request(id, server: entry.server)
        case .withdrawSlotRequest: slots.withdraw(id)
        case .free: slots.free(id)
        case .begin: begin(id)
        case .forget:
            progressTable.drop(id)
            live[id]?.record.point = TransferPoint(boot: boot)
            keep([.moved(id, TransferPoint(boot: boot))])
        case .abandon:
            // Read the last progress of the attempt before its reports are ignored.
            readProgress()
            live[id]?.running = nil
            entry.placing?.close()
            entry.task?.cancel()
            dropMovers(of: id)
        case .save: keep([.changed(id, entry.record.status)])
        case .end: end = self.end(id)
        }
    }

    /// Queues changes for the journal, which retries until it has written them.
    func keep(_ changes: [TransferChange]) { journal.keep(changes) }

    // MARK: Attempts

    private func begin(_ id: RunID) {
        guard let entry = live[id] else { return }
        let meter = TransferMeter(clock: clock)
        let number = entry.machine.attempt
        let placing = PlacingGate()
        let attempt = self.attempt(entry, number, meter, placing)
        let previous = entry.task
        live[id]?.meter = meter
        live[id]?.placing = placing
        live[id]?.heldAtBegin = entry.record.point.bytes
        live[id]?.running = number
        // `shutDown` awaits this task; `abandon` cancels it. It awaits the previous attempt, which
        // may still be writing to the same file; a delay here is harmless.
        live[id]?.task = Task {
            await previous?.value
            let result = await self.start(id, number, attempt)
            counter.moved(entry.record.request, meter.bytes)
            self.finished(id, number, result)
        }
    }

    private func start(_ id: RunID, _ number: Int, _ attempt: Attempt?) async -> AttemptResult? {
        guard let entry = live[id], entry.running == number, !Task.isCancelled else { return nil }
        guard let attempt else {
            let fault = TransferFault(
                .forbidden,
                "there is no plugin \(Printable.text(entry.record.request.plugin)) any more"
            )
            return AttemptResult(end: .failed(fault), point: entry.record.point)
        }
        return await traced(attempt, number) { await attempt.run(from: entry.record.point) }
    }

    private func attempt(
        _ entry: Live,
        _ number: Int,
        _ meter: TransferMeter,
        _ placing: PlacingGate
    ) -> Attempt? {
        let request = entry.record.request
        guard let access = access(request.plugin) else { return nil }
        let id = request.id
        return Attempt(
            request: request,
            route: route,
            access: access,
            meter: meter,
            placing: placing,
            clock: clock,
            boot: boot,
            mustSettle: entry.hasVersion || entry.record.point.validator != nil,
            span: span(of: request),
            moved: { [progressTable, weak self] point in
                let entry = ProgressTable.Entry(attempt: number, point: point)
                guard progressTable.put(id, entry) else { return }
                // The task is short and need not be awaited.
                Task { await self?.progress() }
            },
            settle: { [weak self] in try await self?.settle(id, number, $0) },
            enter: { [weak self] in try await self?.move(id, number, $0) }
        )
    }

    private func finished(_ id: RunID, _ number: Int, _ result: AttemptResult?) {
        // The result of an abandoned attempt is ignored.
        guard let result, live[id]?.running == number else { return }
        readProgress()
        live[id]?.running = nil
        note(result.point, of: id, isDone: result.end.isDone)
        handle(id, .ended(result.end))
    }

    /// Stores a transfer's position after an attempt.
    private func note(_ point: TransferPoint, of id: RunID, isDone: Bool) {
        unsaved.remove(id)
        guard var entry = live[id] else { return }
        var point = point
        // What was refused for lack of room is not kept.
        if !hasRoom(for: point, of: entry.record) { point = entry.record.point }
        if point.validator == entry.record.point.validator {
            point.bytes = max(point.bytes, entry.record.point.bytes)
        }
        entry.record.point = point
        entry.hasVersion = entry.hasVersion || point.validator != nil
        live[id] = entry
        charge(entry.record)
        if isShutDown {
            unsaved.insert(id)
        } else if !isDone {
            // Record the position before the status of the same event, so that both share a sync.
            keep([.moved(id, point)])
        }
    }

    // MARK: Connections

    private func grantSlots() {
        guard !isShutDown else { return }
        resumeMovers()
        for id in slots.grant() { handle(id, .slot) }
    }

    /// Moves the slot of an attempt to the next server; waits until that server has a free one.
    private func move(_ id: RunID, _ number: Int, _ address: WebAddress) async throws {
        guard live[id]?.running == number, !isShutDown else { throw CancellationError() }
        if slots.move(id, to: address.server) {
            grantSlots()
            return
        }
        let isMoved = await withCheckedContinuation { continuation in
            movers.append(
                Mover(id: id, attempt: number, server: address.server, continuation: continuation)
            )
        }
        guard isMoved else { throw CancellationError() }
    }

    private func resumeMovers() {
        guard !movers.isEmpty else { return }
        var rest: [Mover] = []
        for mover in movers {
            if slots.move(mover.id, to: mover.server) {
                mover.continuation.resume(returning: true)
            } else {
                rest.append(mover)
            }
        }
        movers = rest
    }

    private func dropMovers(of id: RunID) {
        for mover in movers where mover.id == id { mover.continuation.resume(returning: false) }
        movers.removeAll { $0.id == id }
    }

    // MARK: The end

    /// - Returns: what the callers that wait for the end get.
    private func end(_ id: RunID) -> TransferRecord? {
        guard let entry = live.removeValue(forKey: id) else { return nil }
        let record = entry.record
        let isTaken = entry.machine.attachments > 0
        let isQuiet = !record.request.notifiesSession
        disarm(entry)
        counter.ended(record)
        progressTable.drop(id)
        unsaved.remove(id)
        sessions.end(
            id,
            key: record.key,
            in: record.sessionKey,
            isTaken: isTaken,
            isQuiet: isQuiet
        )
        if record.status.state != .done { removePart(record.request, of: entry) }
        if isTaken, !entry.takers.isEmpty {
            // The record stays in the journal until one of the takers confirms it.
            ended[id] = record
            handedOut.insert(id)
            armSweep()
        } else if isTaken {
            // The downloaded files stay; the waiters get the rest.
            keep([.removed(id)])
            removeHolding(record.request)
            if entry.waiters.isEmpty { taken[id] = record }
        } else {
            ended[id] = record
            armSweep()
        }
        reportIfComplete(record.sessionKey)
        return record
    }

    private func removePart(_ request: TransferRequest, of entry: Live) {
        guard case .download = request.kind, let access = access(request.plugin) else { return }
        // `shutDown` awaits this task.
        cleanups[request.id] = Task {
            await entry.task?.value
            // If this fails, only a hidden file remains.
            try? await onDisk {
                PartFile.remove(of: request, within: access)
                // The last attempt may have been placing the file when it was abandoned.
                if let inode = entry.placing?.inode {
                    PartFile.removePlaced(request, within: access, inode: inode)
                }
            }
            self.cleanups[request.id] = nil
        }
    }

    /// Reports ends of a session to the observer, if all its transfers have ended.
    func reportIfComplete(_ key: SessionKey) {
        guard !isShutDown, let ids = sessions.report(key), let first = ids.first else { return }
        let records = ids.compactMap { ended[$0] }
        observer?.sessionEnded(SessionEnd(id: first, session: key, transfers: records))
    }

    func release(_ id: RunID, _ record: TransferRecord?) {
        guard let entry = live[id] else { return }
        live[id]?.waiters = [:]
        live[id]?.takers = [:]
        for waiter in entry.waiters.values { waiter.resume(returning: record) }
        for taker in entry.takers.values { taker.resume(returning: record) }
    }
}

extension TransferMachine.AttemptEnd {
    fileprivate var isDone: Bool {
        if case .done = self { return true }
        return false
    }
}
