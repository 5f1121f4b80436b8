// SPDX-License-Identifier: Apache-2.0

internal import BghostWire
internal import CBghost
internal import Synchronization

/// The extension `bghost.checkpoint/1`.
extension PluginRuntime {
    static func fill(_ table: UnsafeMutablePointer<bg_checkpoints>) {
        table.pointee.size = UInt32(MemoryLayout<bg_checkpoints>.size)
        table.pointee.save = { host, run, bytes, length in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.saveCheckpoint(run, bytes, length)
        }
        table.pointee.load = { host, run, buffer, capacity, need in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.loadCheckpoint(run, buffer, capacity, need)
        }
    }

    private func saveCheckpoint(
        _ run: bg_run,
        _ bytes: UnsafeRawPointer?,
        _ length: Int
    ) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        // A size_t: what is too large for an Int is too long, too.
        guard UInt(bitPattern: length) <= UInt(Call.checkpointBytesMax) else { return BG_E_LIMIT }
        guard length == 0 || bytes != nil else { return BG_E_ARG }
        let copy = Array(UnsafeRawBufferPointer(start: bytes, count: length))
        return ask(.saveCheckpoint(copy), of: run, in: slot).status
    }

    private func loadCheckpoint(
        _ run: bg_run,
        _ buffer: UnsafeMutableRawPointer?,
        _ capacity: Int,
        _ need: UnsafeMutablePointer<Int>?
    ) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        guard capacity >= 0, capacity == 0 || buffer != nil else { return BG_E_ARG }
        let answer = ask(.loadCheckpoint, of: run, in: slot)
        guard answer.status == BG_OK else { return answer.status }
        guard case .checkpoint(let bytes) = answer.body else { return BG_E_FAILED }
        need?.pointee = bytes.count
        guard capacity > 0, let buffer else { return BG_OK }
        guard bytes.count <= capacity else { return BG_E_SMALL }
        bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            buffer.copyMemory(from: start, byteCount: source.count)
        }
        return BG_OK
    }
}
