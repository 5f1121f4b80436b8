// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostModel
internal import BghostServices
internal import BghostTransferRules
internal import BghostTransfer
internal import BghostTransferBridge
internal import BghostWire

/// Ended transfers that a wake's run did not take: they are kept until another run claims them.
extension TransferCoordinator {
    /// Records which of the reported transfers a run does not take.
    func keepEnds(_ call: Call, _ executor: any RunExecutor, _ texts: [String]) {
        guard let table, let wake = table.runningWakes[call.run] else {
            return replies.answer(call, executor, CallStatus.absent)
        }
        let ids = Set(texts.compactMap { RunID($0) })
        // A run can keep only transfers that were reported to it.
        guard ids.count == Set(texts).count, ids.isSubset(of: wake.transfers) else {
            return replies.answer(call, executor, CallStatus.absent)
        }
        table.runningWakes[call.run]?.unclaimed.formUnion(ids)
        replies.answer(call, executor, CallStatus.ok)
    }

    /// Makes the engine keep ended transfers that a successful run did not take.
    func keepUnclaimed(_ ids: Set<RunID>, of key: SessionKey, _ table: TransferTable) {
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
        send(to: table) { [reference] engine in
            await engine.keepEnds(ids, in: key)
            reference.perform { $0.acknowledged(ids) }
        }
    }

    /// Passes the kept transfers of a session to a run.
    func claimEnds(_ call: Call, _ executor: any RunExecutor, _ session: String, _ bytesMax: Int) {
        guard let table else { return replies.answer(call, executor, CallStatus.permission) }
        let (engine, delivery) = (table.engine, table.lastDelivery)
        guard runs.run(call.run) != nil else {
            return replies.answer(call, executor, CallStatus.stale)
        }
        let key = SessionKey(plugin: executor.plugin.name, session: session)
        let serial = executor.serial
        replies.open(executor)
        let pageBytesMax = min(bytesMax, Self.listBytesMax)
        // The task is not awaited; it ends with the engine's answer.
        Task { [reference] in
            await delivery?.value
            let page = await engine.claim(in: key, bytesMax: pageBytesMax)
            reference.perform { $0.claimed(page, call, serial, bytesMax) }
        }
    }

    private func claimed(_ page: TransferPage, _ call: Call, _ serial: UInt32, _ bytesMax: Int) {
        let isLive = runs.run(call.run) != nil
        if let table, bytesMax > 0, !page.ids.isEmpty {
            if isLive {
                table.claimed[call.run, default: []] += page.ids
            } else {
                giveBack(page.ids, table)
            }
        }
        guard let executor = replies.close(serial) else { return }
        guard isLive else { return replies.answer(call, executor, CallStatus.stale) }
        replies.send(Self.answer(to: call, page, bytesMax), to: executor)
    }

    /// Returns the transfers that an ended run claimed and did not acknowledge, so that they wait again.
    func releaseClaims(by run: UInt64, _ table: TransferTable) {
        guard let ids = table.claimed.removeValue(forKey: run) else { return }
        giveBack(ids, table)
    }

    private func giveBack(_ ids: [RunID], _ table: TransferTable) {
        send(to: table) { engine in
            for id in ids { await engine.giveBack(id) }
        }
    }
}
