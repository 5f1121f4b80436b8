// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// Ends on their way to those who wait, and those that nobody comes for.
extension TransferEngine {
    /// Waits for the end of a transfer, and takes it.
    ///
    /// While somebody waits, the transfer is attached; when the calling task is cancelled it is so no
    /// more, in one step. The end stays written down until `confirm` or `giveBack` is called.
    ///
    /// - Returns: `nil` when the calling task is cancelled, the engine is shut down, or the plugin has
    ///   no such transfer.
    package func take(_ id: RunID, of plugin: String) async -> TransferRecord? {
        if let record = ended[id] {
            // Nobody gets an end that another one has been handed.
            guard record.request.plugin == plugin, !isShutDown, !handedOut.contains(id) else {
                return nil
            }
            // From here on it is this one's: its session is not told of it any more.
            _ = sessions.acknowledge([id], in: record.sessionKey)
            handedOut.insert(id)
            return record
        }
        guard live[id]?.record.request.plugin == plugin else { return nil }
        tokens += 1
        let token = tokens
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled, !isShutDown, live[id] != nil else {
                    return continuation.resume(returning: nil)
                }
                live[id]?.takers[token] = continuation
                handle(id, .attach)
            }
        } onCancel: {
            // Short, and nobody waits for it.
            Task { await self.stopTaking(id, token) }
        }
    }

    private func stopTaking(_ id: RunID, _ token: UInt64) {
        guard let taker = live[id]?.takers.removeValue(forKey: token) else { return }
        handle(id, .detach)
        taker.resume(returning: nil)
    }

    /// Whoever took an end has it.
    package func confirm(_ id: RunID) {
        guard let record = ended[id] else { return }
        guard handedOut.remove(id) != nil else {
            return acknowledge([id], in: record.sessionKey)
        }
        ended[id] = nil
        // Its file is with whoever took it.
        letGo(record.request)
        keep([.removed(id)])
    }

    /// Whoever took an end is gone: its session is told.
    package func giveBack(_ id: RunID) {
        guard handedOut.remove(id) != nil, let record = ended[id] else { return }
        sessions.recover(
            ended: id,
            in: record.sessionKey,
            isQuiet: !record.request.tellsSession
        )
        tell(record.sessionKey)
    }

    /// The transfer of a plugin.
    package func find(_ id: RunID, of plugin: String) -> TransferRecord? {
        let record = live[id]?.record ?? ended[id]
        return record?.request.plugin == plugin ? record : nil
    }

    // MARK: Dates

    func isMet(_ request: TransferRequest) -> Bool {
        request.notBefore ?? .min <= clock.unixNow && requirements(request)
    }

    /// Has the date of a transfer looked at when it comes.
    func armDate(_ token: UInt64) {
        guard let id = byToken[token], let date = live[id]?.record.request.notBefore else { return }
        let wait = date.subtractingReportingOverflow(clock.unixNow)
        guard !wait.overflow, wait.partialValue > 0 else { return }
        timers.insert(
            deadline: later(clock.now, UInt64(wait.partialValue)),
            token: token | Self.dateBit
        )
        schedule()
    }

    func dateCame(_ token: UInt64) {
        guard let id = byToken[token], let request = live[id]?.record.request else { return }
        handle(id, .requirements(isMet: isMet(request)))
        // The wall clock may have been set back meanwhile.
        armDate(token)
    }

    // MARK: Ends that nobody comes for

    /// How often they are looked for.
    private static var sweepPeriod: UInt64 { 3_600_000_000_000 }

    func armSweep() {
        guard sweepAt == nil, !ended.isEmpty else { return }
        let due = later(clock.now, Self.sweepPeriod)
        sweepAt = due
        timers.insert(deadline: due, token: Self.sweepToken)
        schedule()
    }

    /// Forgets ends that nobody has dealt with for too long.
    ///
    /// The engine does so by itself, each hour.
    package func sweep() {
        sweepAt = nil
        let oldest = clock.unixNow.subtractingReportingOverflow(limits.endsKept)
        let expired = ended.values.filter { record in
            !handedOut.contains(record.request.id)
                && record.status.endedAt ?? .max < (oldest.overflow ? .min : oldest.partialValue)
        }.sorted { $0.request.id < $1.request.id }
        for record in expired {
            let id = record.request.id
            _ = sessions.acknowledge([id], in: record.sessionKey)
            ended[id] = nil
            drop(record)
        }
        if !expired.isEmpty {
            keep(expired.map { .removed($0.request.id) })
            observer?.endsExpired(expired)
        }
        armSweep()
    }
}
