// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import Crypto

/// What may be asked of an engine.
extension TransferEngine {
    /// A transfer that was asked for.
    package struct Created: Equatable, Sendable {
        package var id: RunID
        /// `false` if one that asks for the same was under way in the session: this is that one.
        package var isNew: Bool
    }

    /// How a transfer stands at a moment.
    package struct View: Equatable, Sendable {
        package var record: TransferRecord
        /// Bytes that the attempt under way has moved.
        package var moved: UInt64
        /// Bytes that are there, as far as is known: of an attempt that begins anew, its own.
        package var bytes: Int64 = 0
        /// How long until it is tried again, nanoseconds; `nil` if it is not waiting for that.
        package var retryIn: UInt64?
        /// Whether what it waits for is there.
        package var isMet = true
    }

    /// Begins a transfer, or finds the one under way that asks for the same.
    ///
    /// Returns when it is written down: from then on it survives everything.
    ///
    /// - Parameter isAttached: whether somebody waits for its end, who asks for it by `end(of:)` or
    ///   says by `detach` that he does no more. What ends attached is not told to its session.
    /// - Throws: `TransferFault` if it cannot be or must not be, `TransferJournalError` if it could
    ///   not be written down.
    package func create(_ request: TransferRequest, isAttached: Bool = false) async throws
        -> Created
    {
        guard !isShutDown else {
            throw TransferFault(.shutDown, "the host is shutting down")
        }
        let key = try await check(request)
        let session = SessionKey(plugin: request.plugin, session: request.session)
        if let id = sessions.existing(key, in: session) {
            if isAttached { handle(id, .attach) }
            // It may not be written down yet: what is committed after it is kept after it.
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
        let holding = holdings[request.plugin] ?? Holding()
        guard holding.count < limits.perPluginMax,
            holding.bytes + request.memoryBytes <= limits.perPluginBytesMax
        else {
            throw TransferFault(
                .tooLarge,
                "this plugin has \(holding.count) transfers that have not been dealt with, with"
                    + " \(holding.bytes) bytes: wait until some have ended"
            )
        }
        let record = TransferRecord(
            request: request,
            key: key,
            point: TransferPoint(boot: boot),
            status: TransferStatus(isDetached: !isAttached)
        )
        hold(request)
        enter(record, deadline: later(clock.now, request.resourceTimeout))
        do {
            try await written([.created(record)])
        } catch {
            guard let entry = live.removeValue(forKey: request.id) else { throw error }
            byToken[entry.token] = nil
            sessions.end(request.id, key: key, in: session, isTaken: true)
            letGo(request)
            for waiter in entry.waiters.values { waiter.resume(returning: nil) }
            for taker in entry.takers.values { taker.resume(returning: nil) }
            throw error
        }
        handle(request.id, .stored)
        return Created(id: request.id, isNew: true)
    }

    /// Returns when changes are written down.
    private func written(_ changes: [TransferChange]) async throws {
        let result = await withCheckedContinuation { continuation in
            journal.commit(changes) { continuation.resume(returning: $0) }
        }
        try result.get()
    }

    /// Carries a transfer through, and returns how it ended.
    ///
    /// If the calling task is cancelled, the transfer goes on by itself, and its session is told.
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
    package func end(of id: RunID) async -> TransferRecord? {
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
            // Short, and nobody waits for it.
            Task { await self.stopWaiting(id, token) }
        }
    }

    private func stopWaiting(_ id: RunID, _ token: UInt64) {
        live[id]?.waiters.removeValue(forKey: token)?.resume(returning: nil)
    }

    /// Somebody more waits for its end.
    package func attach(_ id: RunID) { handle(id, .attach) }

    /// Somebody waits no more; when the last one goes, its session is told of its end.
    package func detach(_ id: RunID) {
        taken[id] = nil
        handle(id, .detach)
    }

    package func cancel(_ id: RunID) { handle(id, .cancel) }

    package func pause(_ id: RunID) { handle(id, .pause) }

    package func resume(_ id: RunID) { handle(id, .resume) }

    /// Tries again now what would be tried again later.
    package func retry(_ id: RunID) { handle(id, .hurry) }

    /// What transfers wait for may have come or gone.
    package func requirementsChanged() {
        for (id, entry) in live {
            handle(id, .requirements(isMet: isMet(entry.record.request)))
        }
    }

    /// Tries again now what failed for want of a network.
    package func networkReturned() {
        for (id, entry) in live {
            guard let code = entry.machine.status.fault?.code,
                [.connection, .unresolved, .idle].contains(code)
            else { continue }
            handle(id, .hurry)
        }
    }

    /// The end of these transfers has been dealt with: they are forgotten.
    ///
    /// If more of the session has ended meanwhile, that is told.
    package func acknowledge(_ ids: [RunID], in session: SessionKey) {
        let known = sessions.acknowledge(ids, in: session)
        guard !known.isEmpty else { return }
        for id in known {
            if let record = ended.removeValue(forKey: id) { drop(record) }
        }
        keep(known.map { .removed($0) })
        tell(session)
    }

    /// All transfers that have not been dealt with, the oldest first.
    package func list(plugin: String? = nil) -> [View] {
        readBoard()
        let now = clock.now
        let views =
            live.values.map { entry in
                let moved = entry.running != nil ? entry.meter?.bytes ?? 0 : 0
                let point = entry.record.point.bytes
                return View(
                    record: entry.record,
                    moved: moved,
                    bytes: max(
                        point,
                        min(point, entry.heldAtBegin).addingClamped(
                            Int64(clamping: moved)
                        )
                    ),
                    retryIn: entry.machine.retryAt.map { $0 > now ? $0 - now : 0 },
                    isMet: isMet(entry.record.request)
                )
            } + ended.values.map { View(record: $0, moved: 0, bytes: $0.point.bytes) }
        return views.filter { plugin == nil || $0.record.request.plugin == plugin }
            .sorted { $0.record.request.id < $1.record.request.id }
    }

    /// Forgets a transfer that has ended, and removes what was only kept for whoever deals with it.
    func drop(_ record: TransferRecord) {
        letGo(record.request)
        guard record.request.hasOwnPlace, let access = access(record.request.plugin) else { return }
        // `shutDown` waits for it. What it might leave is a file in the plugin's own folder.
        chores[record.request.id] = Task {
            try? await onDisk { PartFile.removePlaced(record.request, within: access) }
            self.chores[record.request.id] = nil
        }
    }

    // MARK: Checks

    /// Checks a request as far as that can be done now, and names it by what it asks for.
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
