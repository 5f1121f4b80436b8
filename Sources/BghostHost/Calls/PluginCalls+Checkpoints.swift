// SPDX-License-Identifier: Apache-2.0

internal import BghostDispatch
internal import BghostModel
internal import BghostServices
internal import BghostWire

/// Checkpoints that runs save and load.
extension PluginCalls {
    /// The run that makes a call; `nil`, after the answer `BG_E_STALE`, if it has ended.
    ///
    /// A handler may end its run on one thread while another calls, which is valid.
    private func liveRun(_ call: Call, _ executor: any RunExecutor) -> ActiveRun? {
        if let run = runs.run(call.run), run.executor === executor { return run }
        replies.answer(call, executor, CallStatus.stale)
        return nil
    }

    func saveCheckpoint(_ call: Call, _ executor: any RunExecutor, _ bytes: [UInt8]) {
        guard let run = liveRun(call, executor) else { return }
        let share = share(of: executor.plugin)
        // The old one counts until this one is stored, so that both fit. A deletion needs no room.
        guard bytes.isEmpty || share.reserve(bytes.count + Checkpoint.overheadBytes) else {
            return replies.refuse(
                call,
                executor,
                CallStatus.limit,
                "a checkpoint of `\(run.record.task)` is refused: bghost holds"
                    + " \(HostLimits.heldBytesMax >> 20) MiB for plugin `\(executor.plugin.name)`, the most"
                    + " that it may; `bghost discard` deletes dead letters, with their checkpoints"
            )
        }
        let (serial, plugin) = (executor.serial, executor.plugin.name)
        let isLive = { [runs] in runs.run(call.run) != nil }
        replies.open(executor)
        checkpoints.save(bytes, by: run.record, while: isLive) { [unowned self] isStored in
            // The ledger counts it from now on.
            if let plugin = plugins[plugin] { _ = self.share(of: plugin) }
            withExtendedLifetime(share) {}
            guard let executor = replies.close(serial) else { return }
            replies.answer(call, executor, isStored ? CallStatus.ok : CallStatus.failed)
        }
    }

    func loadCheckpoint(_ call: Call, _ executor: any RunExecutor) {
        guard let run = liveRun(call, executor) else { return }
        let serial = executor.serial
        let (request, plugin) = (run.record.request, executor.plugin.name)
        replies.open(executor)
        reference.performAsync { calls in
            let loaded = await calls.checkpoints.load(request, plugin: plugin)
            let replies = calls.replies
            guard let executor = replies.close(serial) else { return }
            switch loaded {
            case .none: replies.answer(call, executor, CallStatus.absent)
            case .unreadable:
                replies.refuse(
                    call,
                    executor,
                    CallStatus.failed,
                    "the checkpoint of \(request) cannot be read; the log of the store says why"
                )
            case .found(let bytes):
                let body = Reply.Body.checkpoint(.inline(bytes))
                replies.send(
                    Reply(call: call.number, status: CallStatus.ok, body: body),
                    to: executor
                )
            }
        }
    }
}
