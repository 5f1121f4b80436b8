// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostWire
internal import CBghost
internal import Synchronization

/// The extension `bghost.run/1`.
extension PluginRuntime {
    static func fill(_ table: UnsafeMutablePointer<bg_runs>) {
        table.pointee.size = UInt32(MemoryLayout<bg_runs>.size)
        table.pointee.identity = { host, run, out in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.identity(run, out)
        }
        table.pointee.submit = { host, run, request in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.submit(request, by: run)
        }
        table.pointee.error = { host, run, error in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.note(error, of: run)
        }
    }

    /// Keeps what the plugin says that a run fails with until the run ends.
    private func note(_ given: UnsafePointer<bg_run_error>?, of run: bg_run) -> bg_status {
        guard let given, given.pointee.size >= MemoryLayout<bg_run_error>.size,
            let type = repaired(given.pointee.type_name, max: HandlerError.typeBytesMax),
            let file = repaired(given.pointee.file, max: HandlerError.fileBytesMax)
        else { return BG_E_ARG }
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        let error = HandlerError(type: type, file: file, line: given.pointee.line)
        return slot.text.withLock { text in
            guard slot.current.belongs(to: run) else { return BG_E_STALE }
            text.error = error
            return BG_OK
        }
    }

    private func repaired(_ text: bg_str, max: Int) -> String? {
        withRepairedText(text, max: max) { String(decoding: $0, as: UTF8.self) }
    }

    /// What the plugin said about a failure; `nil` for another end.
    ///
    /// The caller is the one thread that reports the end of the slot's run.
    func error(of slot: RunSlot, _ status: Int32) -> HandlerError? {
        guard status < 0 else { return nil }
        return slot.text.withLock { $0.error }
    }

    private func identity(
        _ run: bg_run,
        _ out: UnsafeMutablePointer<bg_run_identity>?
    ) -> bg_status {
        guard let out, out.pointee.size >= MemoryLayout<bg_run_identity>.size else {
            return BG_E_ARG
        }
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        // While the lock is held the run cannot be released, but it may have been released just
        // before.
        let found = slot.text.withLock { slot.current.belongs(to: run) ? $0.names : nil }
        guard let names = found else { return BG_E_STALE }
        out.pointee.reserved = 0
        out.pointee.epoch = names.epoch
        CText.copy(
            RunID(high: names.runHigh, low: names.runLow).description,
            to: &out.pointee.run_id
        )
        CText.copy(
            RunID(high: names.requestHigh, low: names.requestLow).description,
            to: &out.pointee.idempotency_key
        )
        return BG_OK
    }
}
