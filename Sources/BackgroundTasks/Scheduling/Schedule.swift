// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Synchronization

/// The host's extension `bghost.schedule/1`.
struct Schedule {
    private let host: Host
    private let table: UnsafePointer<bg_schedule>

    /// Finds it on the host of the run, or outside a run on the host of the plugin; `nil` if there
    /// is no host or it has no such extension.
    init?() {
        guard let host = TaskContext.current?.host ?? Host.latest.withLock({ $0 }),
            let table = host.extension(BG_EXT_SCHEDULE, as: bg_schedule.self)
        else { return nil }
        self.host = host
        self.table = table
    }

    func submit(_ request: bg_request) -> bg_status {
        withUnsafePointer(to: request) { request in
            table.pointee.submit?(host.pointer, request) ?? BG_E_ABSENT
        }
    }

    /// Withdraws a request; `BG_OK` also if none is pending.
    func cancel(_ identifier: String) -> bg_status {
        guard let cancel = table.pointee.cancel else { return BG_E_ABSENT }
        let status = identifier.withBgStr { cancel(host.pointer, $0) }
        // There was no such request, which is what was wanted.
        return status == BG_E_ABSENT ? BG_OK : status
    }

    func cancelAll() -> bg_status {
        table.pointee.cancel_all?(host.pointer) ?? BG_E_ABSENT
    }

    func pending() -> [bg_pending] {
        guard let list = table.pointee.pending else { return [] }
        var capacity = 64
        while true {
            var total = 0
            var status = BG_OK
            let found = [bg_pending](unsafeUninitializedCapacity: capacity) { buffer, count in
                // The host writes its own, perhaps longer or shorter, entries at this distance.
                var empty = bg_pending()
                empty.size = UInt32(MemoryLayout<bg_pending>.stride)
                buffer.initialize(repeating: empty)
                status = list(host.pointer, buffer.baseAddress, capacity, &total)
                count = status == BG_OK ? min(total, capacity) : 0
            }
            // Requests may come between two calls; a host that counts up for ever is given up.
            guard status == BG_OK, total > capacity, capacity < 1 << 16 else { return found }
            capacity = max(capacity * 2, total)
        }
    }
}
