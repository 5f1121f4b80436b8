// SPDX-License-Identifier: Apache-2.0

internal import BghostWire
internal import CBghost
internal import Synchronization
internal import Glibc

/// Tables that are the same for every plugin and live for ever.
private struct ExtensionTables: @unchecked Sendable {
    // @unchecked: written once, before the first reader.
    let schedule: UnsafeMutablePointer<bg_schedule>
    let fetches: UnsafeMutablePointer<bg_fetches>
    let statuses: UnsafeMutablePointer<bg_statuses>
    let transfers: UnsafeMutablePointer<bg_transfers>

    static let shared = ExtensionTables()

    private init() {
        schedule = .allocate(capacity: 1)
        schedule.initialize(to: bg_schedule())
        fetches = .allocate(capacity: 1)
        fetches.initialize(to: bg_fetches())
        statuses = .allocate(capacity: 1)
        statuses.initialize(to: bg_statuses())
        transfers = .allocate(capacity: 1)
        transfers.initialize(to: bg_transfers())
        PluginRuntime.fill(transfers)
        PluginRuntime.fill(schedule)
        PluginRuntime.fill(fetches)
        PluginRuntime.fill(statuses)
    }
}

extension PluginRuntime {
    static func extensionTable(named name: UnsafePointer<CChar>) -> UnsafeRawPointer? {
        if strcmp(name, BG_EXT_SCHEDULE) == 0 {
            return UnsafeRawPointer(ExtensionTables.shared.schedule)
        }
        if strcmp(name, BG_EXT_FETCH) == 0 {
            return UnsafeRawPointer(ExtensionTables.shared.fetches)
        }
        if strcmp(name, BG_EXT_STATUS) == 0 {
            return UnsafeRawPointer(ExtensionTables.shared.statuses)
        }
        if strcmp(name, BG_EXT_NOTIFY) == 0 { return notifierTable }
        if strcmp(name, BG_EXT_TRANSFER) == 0 {
            return UnsafeRawPointer(ExtensionTables.shared.transfers)
        }
        return nil
    }

    fileprivate static func fill(_ table: UnsafeMutablePointer<bg_schedule>) {
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

    /// Asks the daemon something and waits for the answer.
    ///
    /// - Parameter run: on whose behalf; 0 for the plugin as a whole.
    func ask(_ request: Call.Operation, run: UInt64 = 0) -> HostAnswer {
        guard !isClosed.load(ordering: .relaxed) else { return HostAnswer(status: BG_E_CLOSED) }
        let wait = CallWait()
        guard let number = calls.add(.thread(wait)) else { return HostAnswer(status: BG_E_LIMIT) }
        guard voice.call(number, run: run, request) else {
            _ = calls.take(number)
            return HostAnswer(status: BG_E_LIMIT)
        }
        if let answer = wait.wait(seconds: RuntimeLimits.callTimeoutSeconds) { return answer }
        // The daemon is stuck, or an answer comes this moment and finds nobody: either way the plugin
        // learns that it cannot count on the request.
        _ = calls.take(number)
        return HostAnswer(status: BG_E_FAILED)
    }

    private func submit(_ request: UnsafePointer<bg_request>?) -> bg_status {
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
            )
        ).status
    }

    private func pending(
        _ out: UnsafeMutablePointer<bg_pending>?,
        _ capacity: Int,
        _ total: UnsafeMutablePointer<Int>?
    ) -> bg_status {
        guard let total, capacity >= 0, capacity == 0 || out != nil else { return BG_E_ARG }
        let stride = capacity > 0 ? Int(out?.pointee.size ?? 0) : MemoryLayout<bg_pending>.size
        guard stride >= MemoryLayout<bg_pending>.size, stride <= 4096 else { return BG_E_ARG }
        let answer = ask(.pending)
        guard answer.status == BG_OK, case .pending(let entries) = answer.body else {
            return answer.status == BG_OK ? BG_E_FAILED : answer.status
        }
        total.pointee = entries.count
        guard capacity > 0, let out else { return BG_OK }
        for (index, entry) in entries.prefix(capacity).enumerated() {
            let place = UnsafeMutableRawPointer(out).advanced(by: index * stride)
                .assumingMemoryBound(to: bg_pending.self)
            place.pointee.size = UInt32(stride)
            place.pointee.kind = entry.kind
            place.pointee.earliest_unix_ms = entry.earliestUnixMilliseconds
            withUnsafeMutableBytes(of: &place.pointee.task_id) { name in
                name.initializeMemory(as: UInt8.self, repeating: 0)
                for (offset, byte) in entry.task.utf8.prefix(name.count - 1).enumerated() {
                    name[offset] = byte
                }
            }
        }
        return BG_OK
    }
}
