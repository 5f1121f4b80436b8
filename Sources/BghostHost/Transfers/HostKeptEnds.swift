// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostTransfer
internal import BghostWire

/// Ended transfers that a wake's run did not take: they are kept until another run claims them.
extension Host {
    /// Records which of the reported transfers a run does not take.
    func keepEnds(_ call: Call, _ executor: RunExecutor, _ texts: [String]) {
        guard let table = transferTable, let wake = table.runningWakes[call.run] else {
            return answer(call, executor, CallStatus.absent)
        }
        let ids = Set(texts.compactMap { RunID($0) })
        // A run can keep only transfers that were reported to it.
        guard ids.count == Set(texts).count, ids.isSubset(of: wake.transfers) else {
            return answer(call, executor, CallStatus.absent)
        }
        table.runningWakes[call.run]?.untaken.formUnion(ids)
        answer(call, executor, CallStatus.ok)
    }

    /// Makes the engine keep ended transfers that a successful run did not take.
    func keepUntaken(_ ids: Set<RunID>, of key: SessionKey, _ table: TransferTable) {
        guard !ids.isEmpty else { return }
        let ids = ids.sorted()
        log.write(
            .info,
            "session.kept",
            ids.count == 1
                ? "the wake did not take the end of \(ids[0]); it is kept until the plugin makes"
                    + " session \(key.session)"
                : "the wake did not take \(ids.count) ends; they are kept until the plugin makes"
                    + " session \(key.session)",
            task: table.session(key.session, of: key.plugin)?.taskIdentifier,
            plugin: key.plugin
        )
        // Events that the engine sent before it processed this may still contain them.
        table.acknowledging.formUnion(ids)
        if table.remove(ids, from: key) { withdrawWake(key) }
        send(to: table) { [weak self] engine in
            await engine.keepEnds(ids, in: key)
            await self?.acknowledged(ids)
        }
    }

    /// Passes the kept transfers of a session to a run.
    func claimEnds(_ call: Call, _ executor: RunExecutor, _ session: String, _ bytesMax: Int) {
        guard let engine = transferTable?.engine else {
            return answer(call, executor, CallStatus.permission)
        }
        guard runs.index(of: call.run) != nil else {
            return answer(call, executor, CallStatus.stale)
        }
        let key = SessionKey(plugin: executor.plugin.name, session: session)
        let serial = executor.serial
        executor.openCalls += 1
        // The task is not awaited; it ends with the engine's answer.
        Task { [weak self] in
            let page = await engine.claim(in: key, bytesMax: min(bytesMax, Self.listBytesMax))
            guard let self else { return }
            await self.claimed(page, call, serial, bytesMax)
        }
    }

    private func claimed(_ page: TransferPage, _ call: Call, _ serial: UInt32, _ bytesMax: Int) {
        let isLive = runs.index(of: call.run) != nil
        if let table = transferTable, bytesMax > 0, !page.ids.isEmpty {
            if isLive {
                table.claimed[call.run, default: []] += page.ids
            } else {
                giveBack(page.ids, table)
            }
        }
        guard let executor = executors[serial] else { return }
        executor.openCalls -= 1
        guard isLive else { return answer(call, executor, CallStatus.stale) }
        sendReply(Self.answer(to: call, page, bytesMax), to: executor)
    }

    /// Returns the transfers that an ended run claimed and did not acknowledge, so that they wait again.
    func giveBackClaimed(by run: UInt64, _ table: TransferTable) {
        guard let ids = table.claimed.removeValue(forKey: run) else { return }
        giveBack(ids, table)
    }

    private func giveBack(_ ids: [RunID], _ table: TransferTable) {
        send(to: table) { engine in
            for id in ids { await engine.giveBack(id) }
        }
    }
}
