// SPDX-License-Identifier: Apache-2.0

internal import BghostWire
internal import CBghost
internal import Synchronization

/// The extension `bghost.wake/1`.
extension PluginRuntime {
    static func fill(_ table: UnsafeMutablePointer<bg_wakes>) {
        table.pointee.size = UInt32(MemoryLayout<bg_wakes>.size)
        table.pointee.keep = { host, run, transfers, count in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.keepEnds(run, transfers, count)
        }
        table.pointee.claim = { host, run, session, buffer, capacity, need in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.claimEnds(run, session, buffer, capacity, need)
        }
    }

    private func keepEnds(
        _ run: bg_run,
        _ transfers: UnsafePointer<bg_transfer>?,
        _ count: Int
    ) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        // A size_t: what is too large for an Int is too many, too.
        guard UInt(bitPattern: count) <= UInt(TransferCall.keepMax) else { return BG_E_LIMIT }
        guard count > 0 else { return BG_OK }
        guard let transfers else { return BG_E_ARG }
        var ids: [String] = []
        for index in 0..<count {
            guard let id = Self.name(of: transfers + index) else { return BG_E_ARG }
            ids.append(id)
        }
        return ask(.transfer(.keep(ids: ids)), of: run, in: slot).status
    }

    private func claimEnds(
        _ run: bg_run,
        _ session: bg_str,
        _ buffer: UnsafeMutablePointer<CChar>?,
        _ capacity: Int,
        _ need: UnsafeMutablePointer<Int>?
    ) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        guard let session = session.string(max: TransferCall.sessionBytesMax), capacity >= 0,
            capacity == 0 || buffer != nil
        else { return BG_E_ARG }
        let claim = TransferCall.claim(session: session, bytesMax: UInt32(clamping: capacity))
        return Self.hand(ask(.transfer(claim), of: run, in: slot), buffer, capacity, need)
    }
}
