// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Synchronization

/// The host's extension `bghost.schedule/1`.
struct Schedule {
    private let host: Host
    private let table: ExtensionTable<bg_schedule>

    /// Finds the extension on the run's host, or outside a run on the plugin's host; `nil` if there
    /// is no host, or if it has no such extension.
    init?() {
        guard let host = TaskContext.current?.host ?? Host.last,
            let table = host.extension(BG_EXT_SCHEDULE, as: bg_schedule.self)
        else { return nil }
        self.host = host
        self.table = table
    }

    /// Submits a request for the calling task's run, if the host supports that.
    func submit(_ request: bg_request) -> bg_status {
        withUnsafePointer(to: request) { request in
            if let run = TaskContext.current?.run,
                let runs = host.extension(BG_EXT_RUN, as: bg_runs.self),
                let submit = runs.submit
            {
                return submit(host.pointer, run, request)
            }
            return table.submit?(host.pointer, request) ?? BG_E_ABSENT
        }
    }

    /// Withdraws a request; also `BG_OK` if none is pending.
    func cancel(_ identifier: String) -> bg_status {
        guard let cancel = table.cancel else { return BG_E_ABSENT }
        let status = identifier.withBgStr { cancel(host.pointer, $0) }
        // If there is no such request, nothing needs to be done.
        return status == BG_E_ABSENT ? BG_OK : status
    }

    func cancelAll() -> bg_status {
        table.cancel_all?(host.pointer) ?? BG_E_ABSENT
    }

    func pending() -> [bg_pending] {
        guard let list = table.pending else { return [] }
        var capacity = 64
        while true {
            var total = 0
            var status = BG_OK
            let found = [bg_pending](unsafeUninitializedCapacity: capacity) { buffer, count in
                // The host writes its own entries at this distance; they may be longer or shorter.
                var empty = bg_pending()
                empty.size = UInt32(MemoryLayout<bg_pending>.stride)
                buffer.initialize(repeating: empty)
                status = list(host.pointer, buffer.baseAddress, capacity, &total)
                // With BG_E_LIMIT, the host returns only the first ones.
                let isTold = status == BG_OK || status == BG_E_LIMIT
                count = isTold ? min(total, capacity) : 0
            }
            // Requests may be added between two calls. Give up if a host returns ever larger
            // numbers.
            guard status == BG_OK || status == BG_E_LIMIT, total > capacity, capacity < 1 << 16
            else { return found }
            capacity = max(capacity * 2, total)
        }
    }
}
