// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CBghost
internal import CBghostSystem
internal import Synchronization
internal import Glibc

extension PluginRuntime {
    /// The runtime that owns a host table.
    static func of(_ host: UnsafePointer<bg_host>?) -> PluginRuntime? {
        guard let context = host?.pointee.ctx else { return nil }
        return Unmanaged<PluginRuntime>.fromOpaque(context).takeUnretainedValue()
    }

    /// Fills the host table for the plugin.
    ///
    /// The table keeps the runtime alive for ever.
    func fillTable(version: bg_str) {
        table.pointee.size = UInt32(MemoryLayout<bg_host>.size)
        table.pointee.abi_major = UInt16(BG_ABI_MAJOR)
        table.pointee.abi_minor = UInt16(BG_ABI_MINOR)
        table.pointee.ctx = Unmanaged.passRetained(self).toOpaque()
        table.pointee.name = Self.immortal("bghost")
        table.pointee.version = version
        table.pointee.complete = { host, run, result in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.complete(run, result)
        }
        table.pointee.cancelled = { host, run in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.cancelled(run)
        }
        table.pointee.set_state = { host, run, state in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.setState(run, state)
        }
        table.pointee.progress = { host, run, done, total, phase in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.progress(run, done, total, phase)
        }
        table.pointee.log = { host, run, level, message in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.log(run, level, message)
        }
        table.pointee.param = { host, run, pointer, buffer, capacity, need in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.parameter(run, pointer, buffer, capacity, need)
        }
        table.pointee.extension = { host, name in
            guard let runtime = PluginRuntime.of(host), let name else { return nil }
            return runtime.extensionTable(named: name)
        }
    }

    /// The slot of a run in progress; `nil` for any other number.
    func liveSlot(_ run: UInt64) -> RunSlot? {
        let slotIndex = RunSlotNumber.of(run)
        guard slotIndex < slots.count else { return nil }
        let word = slots[slotIndex].current
        guard word.belongs(to: run), !word.has(RunWord.isDone) else { return nil }
        return slots[slotIndex]
    }

    private func complete(_ run: bg_run, _ result: UnsafePointer<bg_result>?) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        // All five fields exist since ABI 1.0, so a smaller struct is invalid.
        guard let result = result?.pointee, result.size >= MemoryLayout<bg_result>.size,
            result.status <= 0, result.retry_after_ms >= 0,
            let message = result.message.bytes(max: .max), isUTF8(message)
        else { return BG_E_ARG }
        guard UInt(bitPattern: result.payload.len) <= UInt(slot.resultBytesMax) else {
            return BG_E_LIMIT
        }
        guard let payload = result.payload.bytes(max: .max), isJSON(payload) else {
            return BG_E_ARG
        }
        guard let before = slot.end(run, set: RunWord.isDone | RunWord.isReporting) else {
            return BG_E_STALE
        }
        // This is the plugin's stack, so do not call the plugin from here on.
        let isActive = before.has(RunWord.isInStart) || before.has(RunWord.isInCancel)
        let isReleased =
            !isActive && !hasRelease(slot) && slot.openFetches.load(ordering: .acquiring) == 0
            && slot.change(
                run,
                set: RunWord.isFinishing,
                clear: RunWord.isReporting,
                unless: RunWord.isFinishing | RunWord.isInStart | RunWord.isInCancel
            ) != nil
        let error = self.error(of: slot, result.status)
        if isReleased { clear(slot) }
        events.completed(
            RunCompletion(
                run: run,
                status: result.status,
                retryAfterMilliseconds: result.retry_after_ms,
                message: truncated(message, max: RuntimeLimits.messageBytesMax),
                payload: payload,
                isReleased: isReleased,
                error: error
            ),
            mayWait: !isReleased && sendsLater(slot) && returnsSoon(slot)
        )
        guard !isReleased, let after = slot.change(run, clear: RunWord.isReporting) else {
            return BG_OK
        }
        // A thread that left start() or cancel() meanwhile could not clean up, so do it now.
        if !after.has(RunWord.isInStart), !after.has(RunWord.isInCancel) {
            finisher.run { [self] in finishIfIdle(slot, run) }
        }
        return BG_OK
    }

    /// Whether this thread is in start() and sends the queued frames after start() has returned.
    func sendsLater(_ slot: RunSlot) -> Bool {
        slot.sendingThread.load(ordering: .relaxed) == UInt(pthread_self())
    }

    func hasRelease(_ slot: RunSlot) -> Bool {
        guard case .plugin(let plugin, _) = program else { return false }
        return plugin.handlers[slot.handler].release != nil
    }

    /// Whether a completion inside start() can wait and be sent together with later frames.
    ///
    /// It cannot if more plugin code may run before they are sent: that code may take long or
    /// crash, but the run has already ended.
    private func returnsSoon(_ slot: RunSlot) -> Bool {
        guard case .plugin(let plugin, _) = program else { return false }
        let handler = plugin.handlers[slot.handler]
        return handler.release == nil && !handler.flags.contains(.mayBlock)
    }

    private func isJSON(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !bytes.isEmpty else { return true }
        // The caller refuses the call; it has no place for a position.
        return (try? JSONReader.parse(Array(bytes), dialect: .strict)) != nil
    }

    private func cancelled(_ run: bg_run) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        let slotIndex = RunSlotNumber.of(run)
        guard slotIndex < slots.count else { return BG_E_STALE }
        let word = slots[slotIndex].current
        guard word.belongs(to: run), !word.has(RunWord.isDone) else { return BG_E_STALE }
        guard word.has(RunWord.isCancelled) else { return BG_OK }
        return bg_status(bitPattern: slots[slotIndex].why.load(ordering: .relaxed))
    }

    private func setState(_ run: bg_run, _ state: UnsafeMutableRawPointer?) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        slot.state.store(UInt(bitPattern: state), ordering: .releasing)
        return BG_OK
    }

    private func progress(
        _ run: bg_run,
        _ done: UInt64,
        _ total: UInt64,
        _ phase: bg_str
    ) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        let stamp = bgs_monotonic_ns()
        let last = slot.lastProgress.load(ordering: .relaxed)
        // Report the last step at once, so that a finished run does not remain at 97 %. Do so only
        // once per run, which the lowest bit records: otherwise last steps could be a flood.
        let isLast = done == total && total > 0
        guard
            stamp &- last >= RuntimeLimits.progressPeriodNanoseconds || last == 0
                || isLast && last & 1 == 0 || options.clock != nil
        else { return BG_OK }
        slot.lastProgress.store(isLast ? stamp | 1 : stamp & ~1, ordering: .relaxed)
        return withRepairedText(phase, max: RuntimeLimits.phaseBytesMax) { phase in
            report(run, of: slot) {
                events.progress(run: run, done: done, total: total, phase: phase)
            }
        } ?? BG_E_ARG
    }

    private func log(_ run: bg_run, _ level: UInt32, _ message: bg_str) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        let slot = unreleasedSlot(run)
        guard run == 0 || slot != nil else { return BG_E_STALE }
        let (passes, dropped) = options.clock == nil ? logRate.admit() : (true, 0)
        guard passes else { return BG_OK }
        return withRepairedText(message, max: RuntimeLimits.logBytesMax) { text in
            report(run, of: slot) {
                events.log(run: run, level: UInt8(min(level, 5)), dropped: dropped, text: text)
            }
        } ?? BG_E_ARG
    }

    /// The slot of a run that is not yet released: release() may still log.
    private func unreleasedSlot(_ run: UInt64) -> RunSlot? {
        let slotIndex = RunSlotNumber.of(run)
        guard slotIndex < slots.count, slots[slotIndex].current.belongs(to: run) else { return nil }
        return slots[slotIndex]
    }

    /// Sends a report about a run, unless another thread has released the run meanwhile.
    ///
    /// - Parameter slot: `nil` for a report about the plugin as a whole.
    private func report(_ run: UInt64, of slot: RunSlot?, _ send: () -> Void) -> bg_status {
        guard let slot else {
            send()
            return BG_OK
        }
        // While the lock is held the run cannot be released, so the release follows the report. The
        // daemon kills a worker that reports about a released run.
        return slot.text.withLock { _ in
            guard slot.current.belongs(to: run) else { return BG_E_STALE }
            send()
            return BG_OK
        }
    }

    private func parameter(
        _ run: bg_run,
        _ pointer: bg_str,
        _ buffer: UnsafeMutablePointer<CChar>?,
        _ capacity: Int,
        _ need: UnsafeMutablePointer<Int>?
    ) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        guard let pointer = pointer.string(max: 4096), capacity == 0 || buffer != nil,
            capacity >= 0
        else {
            return BG_E_ARG
        }
        return slot.text.withLock { text in
            // While the lock is held the run cannot be released, but it may have been released just
            // before.
            guard slot.current.belongs(to: run) else { return BG_E_STALE }
            if text.parsed == nil, let bytes = text.parameters.bytes(max: .max) {
                // Parameters that are not JSON have no values, and the plugin gets BG_E_ABSENT.
                text.parsed = try? JSONReader.parse(Array(bytes), dialect: .strict)
            }
            guard let node = text.parsed?.find(pointer: pointer) else { return BG_E_ABSENT }
            var value = node.string ?? node.text
            return value.withUTF8 { bytes in
                need?.pointee = bytes.count
                guard capacity > 0, let buffer else { return BG_OK }
                guard bytes.count <= capacity else { return BG_E_SMALL }
                if let source = bytes.baseAddress {
                    UnsafeMutableRawPointer(buffer).copyMemory(
                        from: source,
                        byteCount: bytes.count
                    )
                }
                return BG_OK
            }
        }
    }
}
