// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostTransferRules

/// Delivers ends to takers, and expires ends that no client acknowledges.
extension TransferEngine {
    /// Waits for the end of a transfer and takes it.
    ///
    /// While a caller waits, the transfer is attached; when the calling task is cancelled, the
    /// transfer is detached in the same step. The end stays in the journal until `confirm` or
    /// `giveBack` is called.
    ///
    /// - Returns: `nil` when the calling task is cancelled, the engine is shut down, the plugin has
    ///   no such transfer, or another caller has taken the end.
    package func take(_ id: RunID, of plugin: String) async -> TransferRecord? {
        if let record = ended[id] {
            // An end that was handed to one caller is not handed to another.
            guard record.request.plugin == plugin, !isShutDown, !handedOut.contains(id) else {
                return nil
            }
            // This caller now owns the end; the session is no longer told of it.
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
            // The task is short and need not be awaited.
            Task { await self.stopTaking(id, token) }
        }
    }

    private func stopTaking(_ id: RunID, _ token: UInt64) {
        guard let taker = live[id]?.takers.removeValue(forKey: token) else { return }
        handle(id, .detach)
        taker.resume(returning: nil)
    }

    /// Records that the taker of an end has received it.
    package func confirm(_ id: RunID) {
        guard let record = ended[id] else { return }
        guard handedOut.remove(id) != nil else {
            return acknowledge([id], in: record.sessionKey)
        }
        ended[id] = nil
        // The taker now owns the downloaded file.
        removeHolding(record.request)
        keep([.removed(id)])
    }

    /// Records that the receiver of an end is gone; the session gets the end instead.
    package func giveBack(_ id: RunID) {
        claimed.remove(id)
        guard handedOut.remove(id) != nil, let record = ended[id] else { return }
        sessions.recover(ended: id, in: record.sessionKey, isQuiet: record.isQuiet)
        reportIfComplete(record.sessionKey)
    }

    /// The transfer with an id, if it belongs to the plugin.
    package func find(_ id: RunID, of plugin: String) -> TransferRecord? {
        let record = live[id]?.record ?? ended[id]
        return record?.request.plugin == plugin ? record : nil
    }

    // MARK: Dates

    func isMet(_ request: TransferRequest) -> Bool {
        request.notBefore ?? .min <= clock.unixNow && requirements(request)
    }

    /// Arms a timer for the earliest start of a transfer, if it lies in the future.
    func armDate(_ token: UInt64) {
        guard let id = byToken[token], let date = live[id]?.record.request.notBefore else { return }
        let wait = date.subtractingReportingOverflow(clock.unixNow)
        guard !wait.overflow, wait.partialValue > 0 else { return }
        let moment = later(clock.now, UInt64(wait.partialValue))
        let had = live[id]?.armedDate != nil
        live[id]?.armedDate = moment
        if had { timers.forget(isLive: isLive) }
        timers.insert(deadline: moment, token: token | Self.dateBit)
        schedule()
    }

    func timerFired(_ token: UInt64) {
        guard let id = byToken[token], let request = live[id]?.record.request else { return }
        live[id]?.armedDate = nil
        handle(id, .requirements(isMet: isMet(request)))
        // The wall clock may have been set back meanwhile; then the timer is armed again.
        armDate(token)
    }

    // MARK: Unacknowledged ends

    /// How often the engine looks for expired ends.
    private static var sweepPeriod: UInt64 { 3_600_000_000_000 }

    func armSweep() {
        guard sweepAt == nil, !ended.isEmpty else { return }
        let due = later(clock.now, Self.sweepPeriod)
        sweepAt = due
        timers.insert(deadline: due, token: Self.sweepToken)
        schedule()
    }

    /// Moves the times of ends if the wall clock was set forward, and limits them to the present if back: the
    /// time for which ends are kept does not follow the clock.
    ///
    /// What the others have left, and their pauses, are stored in the new time.
    ///
    /// The clock of the engine counts time asleep. The cost is O(n) in the transfers if the clock was set.
    func followClock() {
        let now = clock.unixNow
        let moment = Moment(monotonic: MonotonicInstant(nanoseconds: clock.now), unix: now)
        guard let step = clockSteps.step(at: moment) else { return }
        var changes: [TransferChange] = []
        for (id, record) in ended.sorted(by: { $0.key < $1.key }) {
            guard let before = record.status.endedAt else { continue }
            let endedAt = min(before.addingClamped(max(step, 0)), now)
            guard endedAt != before else { continue }
            ended[id]?.status.endedAt = endedAt
            if let status = ended[id]?.status { changes.append(.changed(id, status)) }
        }
        for id in live.keys.sorted() {
            live[id]?.machine.wallClockWasSet(by: step)
            guard let status = live[id]?.machine.status else { continue }
            live[id]?.record.status = status
            changes.append(.changed(id, status))
        }
        if !changes.isEmpty { keep(changes) }
    }

    /// Drops ends that no client has acknowledged for too long.
    ///
    /// The engine calls it each hour.
    func sweep() {
        sweepAt = nil
        followClock()
        let oldest = clock.unixNow.subtractingReportingOverflow(limits.endsKept)
        let expired = ended.values.filter { record in
            !handedOut.contains(record.request.id)
                && record.status.endedAt ?? .max < (oldest.overflow ? .min : oldest.partialValue)
        }.sorted { $0.request.id < $1.request.id }
        for record in expired {
            let id = record.request.id
            // A session that has forgotten the end has nothing to drop.
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
