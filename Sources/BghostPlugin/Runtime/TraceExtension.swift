// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CBghost
internal import Synchronization

/// The extension `bghost.trace/1`.
extension PluginRuntime {
    static func fill(_ table: UnsafeMutablePointer<bg_traces>) {
        table.pointee.size = UInt32(MemoryLayout<bg_traces>.size)
        table.pointee.context = { host, run, out in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.traceContext(run, out)
        }
    }

    private func traceContext(
        _ run: bg_run,
        _ out: UnsafeMutablePointer<bg_trace_context>?
    ) -> bg_status {
        guard let out, out.pointee.size >= MemoryLayout<bg_trace_context>.size else {
            return BG_E_ARG
        }
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        // While the lock is held the run cannot be released, but it may have been released just
        // before.
        let found = slot.text.withLock { text in
            slot.current.belongs(to: run) ? (text.traceparent, text.tracestate) : nil
        }
        guard let (parent, state) = found else { return BG_E_STALE }
        guard !parent.isEmpty else { return BG_E_ABSENT }
        out.pointee.reserved = 0
        CText.copy(parent, to: &out.pointee.traceparent)
        CText.copy(state, to: &out.pointee.tracestate)
        return BG_OK
    }
}
