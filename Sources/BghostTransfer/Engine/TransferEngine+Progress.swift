// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostTransferRules

/// The timers of transfers, and the periodic recording of their progress.
extension TransferEngine {
    // MARK: Timers

    /// Timer token of the periodic recording of progress.
    private static let flushToken: UInt64 = 0
    /// Timer token of the sweep for expired ends.
    static let sweepToken: UInt64 = .max
    /// This bit marks the timer token of a transfer's earliest start.
    static let dateBit: UInt64 = 1 << 62

    func arm(_ id: RunID, _ moment: UInt64) {
        guard let token = live[id]?.token else { return }
        let had = live[id]?.armed != nil
        live[id]?.armed = moment
        if had { timers.forget(isLive: isLive) }
        timers.insert(deadline: moment, token: token)
        schedule()
    }

    /// Disarms the timers of a transfer that is no longer among the live ones.
    ///
    /// They may be due in days; until then they would use memory.
    func disarm(_ entry: Live) {
        byToken[entry.token] = nil
        for moment in [entry.armed, entry.armedDate] where moment != nil {
            timers.forget(isLive: isLive)
        }
    }

    /// Whether an entry of the heap is still armed.
    func isLive(_ token: UInt64, _ deadline: UInt64) -> Bool {
        if token == Self.flushToken { return isFlushArmed }
        if token == Self.sweepToken { return sweepAt == deadline }
        if token & Self.dateBit != 0 {
            return byToken[token & ~Self.dateBit].flatMap { live[$0]?.armedDate } == deadline
        }
        return byToken[token].flatMap { live[$0]?.armed } == deadline
    }

    func schedule() {
        guard !isShutDown, let next = timers.first(isLive: isLive)?.deadline else { return }
        if let wakeAt, wakeAt <= next { return }
        wakeTask?.cancel()
        wakeAt = next
        // Cancelled when an earlier timer replaces it, and by `shutDown`.
        wakeTask = Task { [clock] in
            // `sleep` throws only when it is cancelled.
            guard (try? await clock.sleep(until: next)) != nil else { return }
            self.wake(next)
        }
    }

    private func wake(_ moment: UInt64) {
        guard wakeAt == moment else { return }
        wakeAt = nil
        while let token = timers.popDue(now: clock.now, isLive: isLive) {
            if token == Self.flushToken {
                isFlushArmed = false
                flush()
            } else if token == Self.sweepToken {
                sweep()
            } else if token & Self.dateBit != 0 {
                timerFired(token & ~Self.dateBit)
            } else if let id = byToken[token], let entry = live[id] {
                live[id]?.armed = nil
                let progress = entry.meter?.progress()
                handle(
                    id,
                    .deadline(bytes: progress?.bytes ?? 0, lastMove: progress?.lastMove ?? 0)
                )
            }
        }
        schedule()
    }

    // MARK: Progress

    func progress() {
        readProgress()
        guard !unsaved.isEmpty, !isFlushArmed, !isShutDown else { return }
        let due = later(savedAt, limits.progressInterval)
        guard clock.now < due, savedAt != 0 else { return flush() }
        isFlushArmed = true
        timers.insert(deadline: due, token: Self.flushToken)
        schedule()
    }

    /// Reads the progress that attempts have reported.
    func readProgress() {
        for (id, entry) in progressTable.take() where live[id]?.running == entry.attempt {
            live[id]?.record.point = entry.point
            unsaved.insert(id)
        }
    }

    /// Records the progress of all transfers in one transaction.
    func flush() {
        guard !unsaved.isEmpty else { return }
        var changes: [TransferChange] = []
        for id in unsaved {
            guard let point = live[id]?.record.point else { continue }
            if point.validator != nil { live[id]?.hasVersion = true }
            changes.append(.moved(id, point))
        }
        unsaved = []
        savedAt = clock.now
        if !changes.isEmpty { keep(changes) }
    }

    /// Records a position and returns when it is in the journal.
    func settle(_ id: RunID, _ number: Int, _ point: TransferPoint) async throws {
        guard live[id]?.running == number, !isShutDown else { throw CancellationError() }
        progressTable.drop(id)
        unsaved.remove(id)
        if let record = live[id]?.record, !hasRoom(for: point, of: record) {
            throw TransferFault(
                .limit,
                "the place that the server made does not fit beside the plugin's other transfers,"
                    + " which have as many bytes as they may"
            )
        }
        live[id]?.record.point = point
        if let entry = live[id] { charge(entry.record) }
        let result = await withCheckedContinuation { continuation in
            journal.commit([.moved(id, point)]) { continuation.resume(returning: $0) }
        }
        do {
            try result.get()
        } catch {
            throw TransferFault(.noSpace, "its progress cannot be written down: \(error)")
        }
    }
}
