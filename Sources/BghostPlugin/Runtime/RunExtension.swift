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
