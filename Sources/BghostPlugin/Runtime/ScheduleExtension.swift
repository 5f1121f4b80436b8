// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostWire
internal import CBghost
internal import Synchronization
internal import Glibc

/// The extension `bghost.schedule/1`.
extension PluginRuntime {
    static func fill(_ table: UnsafeMutablePointer<bg_schedule>) {
        table.pointee.size = UInt32(MemoryLayout<bg_schedule>.size)
        table.pointee.submit = { host, request in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.submit(request)
        }
        table.pointee.cancel = { host, task in
            guard let runtime = PluginRuntime.of(host), let task = task.string(max: 1024) else {
                return BG_E_ARG
            }
            return runtime.ask(.cancelPending(task: task)).status
        }
        table.pointee.cancel_all = { host in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.ask(.cancelAllPending).status
        }
        table.pointee.pending = { host, out, capacity, total in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.pending(out, capacity, total)
        }
    }

    /// Sends a request to the daemon and waits for the answer.
    ///
    /// - Parameter run: the run that asks; 0 for the plugin as a whole.
    func ask(_ request: Call.Operation, run: UInt64 = 0) -> HostAnswer {
        guard !isClosed.load(ordering: .relaxed) else { return HostAnswer(status: BG_E_CLOSED) }
        let wait = CallWait()
        guard let number = calls.add(.thread(wait)) else { return HostAnswer(status: BG_E_LIMIT) }
        guard events.call(number, run: run, request) else {
            // This thread waits for the call itself, so the waiter is of no more use.
            _ = calls.remove(number)
            return HostAnswer(status: BG_E_LIMIT)
        }
        if let answer = wait.wait(seconds: RuntimeLimits.callTimeoutSeconds) { return answer }
        // The daemon is stuck, or the answer arrives just now, too late. In both cases the plugin
        // learns that it cannot rely on the request.
        _ = calls.remove(number)
        return HostAnswer(status: BG_E_FAILED)
    }

    /// Submits a request for a task.
    ///
    /// - Parameter run: the run that submits it; 0 stands for the only run in progress, if there is
    ///   exactly one.
    func submit(_ request: UnsafePointer<bg_request>?, by run: UInt64 = 0) -> bg_status {
        guard let request = request?.pointee, request.size >= MemoryLayout<bg_request>.size else {
            return BG_E_ARG
        }
        guard UInt(bitPattern: request.params.len) <= 64 << 10 else { return BG_E_LIMIT }
        guard let task = request.task_id.string(max: 1024),
            let parameters = request.params.string(max: 64 << 10)
        else { return BG_E_ARG }
        return ask(
            .submit(
                task: task,
                parameters: parameters,
                kind: request.kind,
                earliestUnixMilliseconds: request.earliest_unix_ms,
                needs: request.needs
            ),
            run: run == 0 ? onlyRun : run
        ).status
    }

    /// The run in progress if there is exactly one; otherwise 0.
    private var onlyRun: UInt64 {
        var only: UInt64 = 0
        for (slotIndex, slot) in slots.enumerated() {
            let word = slot.current
            guard word.raw != 0, !word.has(RunWord.isDone) else { continue }
            guard only == 0 else { return 0 }
            only = (word.raw >> 8) << RunSlotNumber.bits | UInt64(slotIndex)
        }
        return only
    }

    private func pending(
        _ out: UnsafeMutablePointer<bg_pending>?,
        _ capacity: Int,
        _ total: UnsafeMutablePointer<Int>?
    ) -> bg_status {
        guard let total, capacity >= 0, capacity == 0 || out != nil else { return BG_E_ARG }
        let stride = capacity > 0 ? Int(out?.pointee.size ?? 0) : MemoryLayout<bg_pending>.size
        guard stride >= Self.pendingSizeMin, stride <= 4096 else { return BG_E_ARG }
        let (status, entries) = allPending()
        guard status == BG_OK || status == BG_E_LIMIT else { return status }
        total.pointee = entries.count
        guard capacity > 0, let out else { return status }
        for (index, entry) in entries.prefix(capacity).enumerated() {
            let place = UnsafeMutableRawPointer(out).advanced(by: index * stride)
            write(entry, to: place, size: min(stride, MemoryLayout<bg_pending>.size))
        }
        return status
    }

    /// The size of `bg_pending` in ABI 1.0: all fields up to `needs`.
    private static let pendingSizeMin = 152

    /// Requests all pages; `BG_E_LIMIT` if there are more requests than a plugin can list.
    private func allPending() -> (status: bg_status, entries: [PendingEntry]) {
        var entries: [PendingEntry] = []
        var from: UInt64 = 0
        repeat {
            let answer = ask(.pending(from: from))
            guard answer.status == BG_OK else { return (answer.status, []) }
            guard case .pending(let page, let next) = answer.body else { return (BG_E_FAILED, []) }
            entries += page
            // Without this check, a host that returns decreasing positions would be asked for ever.
            guard next == 0 || next > from else { return (BG_E_FAILED, []) }
            from = next
        } while from != 0 && entries.count < RuntimeLimits.pendingMax
        return (from == 0 ? BG_OK : BG_E_LIMIT, entries)
    }

    /// Writes as many fields of an entry as the plugin's own struct has.
    private func write(_ entry: PendingEntry, to place: UnsafeMutableRawPointer, size: Int) {
        var pending = bg_pending()
        pending.size = UInt32(size)
        pending.kind = entry.kind
        pending.earliest_unix_ms = entry.earliestUnixMilliseconds
        pending.needs = entry.needs
        CText.copy(entry.task, to: &pending.task_id)
        withUnsafeBytes(of: &pending) { bytes in
            UnsafeMutableRawBufferPointer(start: place, count: size)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(size)))
        }
    }
}
