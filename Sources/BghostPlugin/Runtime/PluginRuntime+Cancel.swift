// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Cancellation of runs.
extension PluginRuntime {
    /// Cancels a run cooperatively.
    ///
    /// Returns at once: another thread calls the plugin. Do not call it on the thread that calls
    /// `start`. A run that is over is ignored; for a run that has not started yet, the cancellation
    /// is remembered.
    package func cancel(run: UInt64, why: UInt32) {
        cancel(run: run, why: why, isBeforeStart: false)
    }

    /// Cancels a run, and calls `afterCancel` once the plugin's cancel() has returned, on the same
    /// thread; it is not called if this cancellation does not reach cancel().
    package func cancel(run: UInt64, why: UInt32, afterCancel: @escaping @Sendable () -> Void) {
        cancel(run: run, why: why, isBeforeStart: false, afterCancel: afterCancel)
    }

    /// Cancels a run; with `isBeforeStart`, on the thread that is about to call start(): the host
    /// must report an earlier cancellation to the plugin before the run starts.
    func cancel(
        run: UInt64,
        why: UInt32,
        isBeforeStart: Bool,
        afterCancel: (@Sendable () -> Void)? = nil
    ) {
        let slotIndex = RunSlotNumber.of(run)
        guard slotIndex < slots.count else { return }
        let slot = slots[slotIndex]
        guard slot.current.belongs(to: run) else {
            remember(run, why, slot)
            return
        }
        slot.why.store(why, ordering: .relaxed)
        guard
            let before = slot.change(
                run,
                set: RunWord.isCancelled,
                unless: RunWord.isDone | RunWord.isCancelled
            )
        else { return }
        slot.signalCancelDescriptor()
        guard case .plugin(let plugin, _) = program else { return }
        let mayOverlap = plugin.handlers[slot.handler].flags.contains(.mayBlock)
        if !before.has(RunWord.isInStart) || mayOverlap {
            let deliver: CallbackQueue.Callback = { [self] in
                if deliverCancel(slot, run, mayOverlapStart: mayOverlap) { afterCancel?() }
                finishIfIdle(slot, run)
            }
            if isBeforeStart { deliver() } else { slot.callbacks.add(on: callers, deliver) }
        }
    }

    /// Runs `body` once the callbacks queued so far for a run's slot have returned, on a thread
    /// that may run plugin code.
    package func afterCallbacks(of run: UInt64, _ body: @escaping @Sendable () -> Void) {
        slots[RunSlotNumber.of(run)].callbacks.add(on: callers, body)
    }

    private func remember(_ run: UInt64, _ why: UInt32, _ slot: RunSlot) {
        let isNoted = early.withLock { early in
            // The numbers of a slot's runs increase, so a number that is not above the last one has
            // started.
            guard run > slot.begun.load(ordering: .acquiring), early.count < slots.count * 2 else {
                return false
            }
            early[run] = why
            return true
        }
        // The run started between the check and this; otherwise it is over.
        if !isNoted, slot.current.belongs(to: run) { cancel(run: run, why: why) }
    }

    /// Calls the plugin's cancel(), unless the run is over or has heard of it.
    ///
    /// - Returns: whether it was called.
    @discardableResult
    func deliverCancel(_ slot: RunSlot, _ run: UInt64, mayOverlapStart: Bool) -> Bool {
        guard case .plugin(let plugin, let instance) = program,
            let cancel = plugin.handlers[slot.handler].cancel
        else { return false }
        let forbidden =
            RunWord.isDone | RunWord.isCancelSettled | (mayOverlapStart ? 0 : RunWord.isInStart)
        guard
            slot.change(
                run,
                set: RunWord.isInCancel | RunWord.isCancelSettled,
                unless: forbidden
            ) != nil
        else { return false }
        cancel(
            instance,
            run,
            UnsafeMutableRawPointer(bitPattern: slot.state.load(ordering: .acquiring)),
            slot.why.load(ordering: .relaxed)
        )
        // While the flag is set, the run is not released, so the word is its own.
        _ = slot.change(run, clear: RunWord.isInCancel)
        return true
    }
}
