// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostTransferRules

/// The operations that clients may request of an engine.
extension TransferEngine {
    /// The result of `create`.
    package struct Created: Equatable, Sendable {
        package var id: RunID
        /// `false` if the session already had a transfer with the same key; `id` is then that
        /// one's.
        package var isNew: Bool
    }

    /// The state of a transfer at one moment.
    package struct View: Equatable, Sendable {
        package var record: TransferRecord
        /// Bytes that the current attempt has moved.
        package var moved: UInt64
        /// Bytes that are present, as far as is known.
        ///
        /// If the attempt starts over, only its own bytes count.
        package var bytes: Int64 = 0
        /// Time until the next attempt, nanoseconds; `nil` if no retry is pending.
        package var retryIn: UInt64?
        /// Whether the transfer's requirements are met.
        var isMet = true
    }

    /// Starts a transfer, or finds the one in progress that has the same key.
    ///
    /// Returns when the transfer is in the journal: from then on it survives a crash.
    ///
    /// - Parameter isAttached: whether a caller waits for the end. That caller then calls
    ///   `end(of:)`, or `detach` when it stops waiting. The session is not told of an end that a
    ///   caller waits for.
    /// - Throws: `TransferFault` if the transfer is impossible or not permitted,
    ///   `TransferJournalError` if it could not be recorded.
    package func create(_ request: TransferRequest, isAttached: Bool = false) async throws
        -> Created
    {
        guard !isShutDown else {
            throw TransferFault(.shutDown, "the host is shutting down")
        }
        let key = try await check(request)
        let session = SessionKey(plugin: request.plugin, session: request.session)
        if let id = sessions.existing(key, in: session) {
            try await adopt(request, into: id)
            if isAttached { handle(id, .attach) }
            // The existing transfer may not be in the journal yet. The journal keeps the order of
            // commits, so an empty commit returns after it.
            if live[id]?.machine.state == .queued {
                try await written([])
                guard live[id] != nil || ended[id] != nil || taken[id] != nil else {
                    throw TransferFault(.noSpace, "what asks for the same cannot be written down")
                }
            }
            return Created(id: id, isNew: false)
        }
        guard live[request.id] == nil, ended[request.id] == nil else {
            throw TransferFault(.badRequest, "its id has been used")
        }
        let count = holdings[request.plugin]?.charges.count ?? 0
        let bytes = holdings[request.plugin]?.bytes ?? 0
        guard count < limits.perPluginMax, request.memoryBytes <= room(request.plugin) else {
            throw TransferFault(
                .tooLarge,
                "this plugin has \(count) transfers that have not been dealt with, with"
                    + " \(bytes) bytes: wait until some have ended"
            )
        }
        var record = TransferRecord(
            request: request,
            key: key,
            point: TransferPoint(boot: boot),
            status: TransferStatus(isDetached: !isAttached)
        )
        record.status.expiresAt =
            clock.unixNow.addingClamped(Int64(clamping: request.resourceTimeout))
        charge(record)
        enter(record, deadline: later(clock.now, request.resourceTimeout))
        do {
            try await written([.created(record)])
        } catch {
            guard let entry = live.removeValue(forKey: request.id) else { throw error }
            disarm(entry)
            sessions.end(request.id, key: key, in: session, isTaken: true)
            removeHolding(request)
            counter.refused()
            for waiter in entry.waiters.values { waiter.resume(returning: nil) }
            for taker in entry.takers.values { taker.resume(returning: nil) }
            throw error
        }
        handle(request.id, .stored)
        return Created(id: request.id, isNew: true)
    }

    /// Merges a request into the transfer in progress that has the same key: both get the same end.
    ///
    /// Its label and its continuation count from now on. The transfer starts when the first of the two may, and
    /// its session is notified if either asks for that.
    ///
    /// - Throws: `TransferFault` if both have a continuation and the two differ, since one would be
    ///   lost.
    private func adopt(_ request: TransferRequest, into id: RunID) async throws {
        guard let old = live[id]?.record.request else { return }
        var kept = old
        if !request.label.isEmpty { kept.label = request.label }
        if !request.continuation.isEmpty {
            guard old.continuation.isEmpty || old.continuation == request.continuation else {
                throw TransferFault(
                    .badRequest,
                    "the transfer \(id) asks for the same and is under way with another continuation:"
                        + " wait for its end, or use another session"
                )
            }
            kept.continuation = request.continuation
        }
        kept.notifiesSession = old.notifiesSession || request.notifiesSession
        kept.isDiscretionary = old.isDiscretionary && request.isDiscretionary
        kept.notBefore = old.notBefore.flatMap { date in request.notBefore.map { min(date, $0) } }
        guard kept != old else { return }
        guard kept.memoryBytes - old.memoryBytes <= room(kept.plugin) else {
            throw TransferFault(.tooLarge, "this plugin's transfers have as many bytes as they may")
        }
        live[id]?.record.request = kept
        if let entry = live[id] {
            charge(entry.record)
            sessions.begin(
                id,
                key: entry.record.key,
                in: entry.record.sessionKey,
                isQuiet: !kept.notifiesSession
            )
            if kept.notBefore != old.notBefore || kept.isDiscretionary != old.isDiscretionary {
                armDate(entry.token)
                handle(id, .requirements(isMet: isMet(kept)))
            }
        }
        guard let record = live[id]?.record else { return }
        // In one transaction: the record is replaced as a whole.
        try await written([.removed(id), .created(record)])
        // The first record failed to reach the journal meanwhile, or its end was acknowledged;
        // remove it again.
        if live[id] == nil, ended[id] == nil, taken[id] == nil { keep([.removed(id)]) }
    }

    /// Returns when the changes are in the journal.
    private func written(_ changes: [TransferChange]) async throws {
        let result = await withCheckedContinuation { continuation in
            journal.commit(changes) { continuation.resume(returning: $0) }
        }
        try result.get()
    }

    /// Runs a transfer and returns its end.
    ///
    /// If the calling task is cancelled, the transfer continues detached, and its session
    /// gets the end.
    package func carry(_ request: TransferRequest) async throws -> TransferRecord {
        let created = try await create(request, isAttached: true)
        if let record = await end(of: created.id) { return record }
        detach(created.id)
        throw CancellationError()
    }

    /// Waits for the end of a transfer.
    ///
    /// Returns `nil` when the calling task is cancelled, the engine is shut down, or there is no
    /// such transfer.
    func end(of id: RunID) async -> TransferRecord? {
        if let record = taken.removeValue(forKey: id) ?? ended[id] { return record }
        tokens += 1
        let token = tokens
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled, !isShutDown, live[id] != nil else {
                    return continuation.resume(returning: nil)
                }
                live[id]?.waiters[token] = continuation
            }
        } onCancel: {
            // The task is short and need not be awaited.
            Task { await self.stopWaiting(id, token) }
        }
    }

    private func stopWaiting(_ id: RunID, _ token: UInt64) {
        live[id]?.waiters.removeValue(forKey: token)?.resume(returning: nil)
    }

    /// Adds a caller that waits for the end.
    func attach(_ id: RunID) { handle(id, .attach) }

    /// Removes a waiting caller; without callers the session gets the end.
    func detach(_ id: RunID) {
        taken[id] = nil
        handle(id, .detach)
    }

    package func cancel(_ id: RunID) { handle(id, .cancel) }

    func pause(_ id: RunID) { handle(id, .pause) }

    func resume(_ id: RunID) { handle(id, .resume) }

    /// Starts the next attempt now instead of after its delay.
    package func retry(_ id: RunID) { handle(id, .retryNow) }

    /// Checks the requirements of all transfers again, after the facts they depend on may have
    /// changed.
    package func requirementsChanged() {
        followClock()
        for (id, entry) in live {
            handle(id, .requirements(isMet: isMet(entry.record.request)))
        }
    }

    /// Retries now every transfer that failed because of the network.
    package func networkReturned() {
        for (id, entry) in live {
            guard let code = entry.machine.status.fault?.code,
                [.connection, .unresolved, .idle].contains(code)
            else { continue }
            handle(id, .retryNow)
        }
    }

    /// Drops transfers whose ends the client has acknowledged.
    package func acknowledge(_ ids: [RunID], in session: SessionKey) {
        let known = sessions.acknowledge(ids, in: session) + takeClaimed(ids, in: session)
        guard !known.isEmpty else { return }
        for id in known {
            if let record = ended.removeValue(forKey: id) { drop(record) }
        }
        keep(known.map { .removed($0) })
        reportIfComplete(session)
    }

    /// All unacknowledged transfers, the oldest first.
    ///
    /// - Parameter plugin: only those of this plugin, at the cost of these; `nil` for all.
    package func list(plugin: String? = nil) -> [View] {
        readProgress()
        let now = clock.now
        let ids =
            if let plugin {
                holdings[plugin]?.charges.keys.sorted() ?? []
            } else {
                (Array(live.keys) + Array(ended.keys)).sorted()
            }
        return ids.compactMap { id -> View? in
            if let entry = live[id] { return view(of: entry, now: now) }
            return ended[id].map { View(record: $0, moved: 0, bytes: $0.point.bytes) }
        }
    }

    private func view(of entry: Live, now: UInt64) -> View {
        let moved = entry.running != nil ? entry.meter?.bytes ?? 0 : 0
        let point = entry.record.point.bytes
        let held = min(point, entry.heldAtBegin).addingClamped(Int64(clamping: moved))
        return View(
            record: entry.record,
            moved: moved,
            bytes: max(point, held),
            retryIn: entry.machine.retryAt.map { $0 > now ? $0 - now : 0 },
            isMet: isMet(entry.record.request)
        )
    }

    /// Drops a transfer that has ended, and removes the file that was kept only for its
    /// acknowledgement.
    func drop(_ record: TransferRecord) {
        removeHolding(record.request)
        guard record.request.hasOwnPlace, let access = access(record.request.plugin) else { return }
        // `shutDown` awaits this task.
        cleanups[record.request.id] = Task {
            // If the removal fails, a file remains in the plugin's own folder.
            try? await onDisk { PartFile.removePlaced(record.request, within: access) }
            self.cleanups[record.request.id] = nil
        }
    }

    // MARK: Checks

    /// Checks a request as far as possible before it starts, and returns its key.
    private func check(_ request: TransferRequest) async throws -> String {
        guard let access = access(request.plugin) else {
            throw TransferFault(.forbidden, "there is no such plugin")
        }
        guard request.continuation.count <= TransferRequest.continuationBytesMax,
            request.body.count <= TransferRequest.bodyBytesMax
        else {
            throw TransferFault(
                .badRequest,
                "its continuation or its body is larger than \(64 << 10) bytes"
            )
        }
        guard request.digest?.count ?? 32 == 32 else {
            throw TransferFault(.badRequest, "a SHA-256 has 32 bytes")
        }
        guard request.effectiveMethod != "HEAD" else {
            throw TransferFault(.badRequest, "the answer to HEAD has no body that could be a file")
        }
        let address: WebAddress
        do throws(FetchFailure) {
            address = try WebAddress(request.url)
            try TransferHeaders.check(request)
            _ = try RequestHeaders.method(request.effectiveMethod)
        } catch {
            throw TransferFault(error)
        }
        guard access.permits(address.host, address.port) else {
            throw TransferFault(
                FetchFailure.permissionDenied(host: address.host, port: address.port)
            )
        }
        let stamp = try await onDisk { () throws -> FileStamp? in
            guard case .upload = request.kind else {
                let (folder, _) = try access.openFolder(of: request.file)
                Descriptors.close(folder)
                return nil
            }
            return try access.openForReading(request.file).stamp
        }
        return TransferKey.text(of: request, at: address, stamp)
    }
}
