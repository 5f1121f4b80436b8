// SPDX-License-Identifier: Apache-2.0

internal import BghostWire
internal import CBghost
internal import Synchronization

/// The extension `bghost.status/1`.
extension PluginRuntime {
    static func fill(_ table: UnsafeMutablePointer<bg_statuses>) {
        table.pointee.size = UInt32(MemoryLayout<bg_statuses>.size)
        table.pointee.refresh = { host, out in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.refresh(out)
        }
        table.pointee.missed = { host, run, out in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.missed(run, out)
        }
    }

    private func refresh(_ out: UnsafeMutablePointer<bg_refresh>?) -> bg_status {
        guard let out, out.pointee.size >= MemoryLayout<bg_refresh>.size else { return BG_E_ARG }
        let (status, situation) = situation(run: 0)
        guard let situation else { return status }
        out.pointee.status = situation.refresh
        out.pointee.reasons = situation.reasons
        out.pointee.reserved = 0
        return BG_OK
    }

    private func missed(_ run: bg_run, _ out: UnsafeMutablePointer<bg_missed>?) -> bg_status {
        guard let out, out.pointee.size >= MemoryLayout<bg_missed>.size else { return BG_E_ARG }
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard run != 0, liveSlot(run) != nil else { return BG_E_STALE }
        let (status, situation) = situation(run: run)
        guard let situation else { return status }
        out.pointee.reserved = 0
        out.pointee.count = situation.missedCount
        out.pointee.from_unix_ms = situation.missedFromUnixMilliseconds
        return BG_OK
    }

    private func situation(run: UInt64) -> (bg_status, Situation?) {
        let answer = ask(.situation(run: run))
        guard answer.status == BG_OK else { return (answer.status, nil) }
        guard case .situation(let situation) = answer.body else { return (BG_E_FAILED, nil) }
        return (BG_OK, situation)
    }
}
