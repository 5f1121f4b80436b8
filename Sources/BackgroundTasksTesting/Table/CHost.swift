// SPDX-License-Identifier: Apache-2.0

package import CBghost
internal import Synchronization

/// A host as plugins see it: the C tables of the ABI, whose functions call an object that answers.
///
/// The host and its tables are never freed, as the ABI requires. The answering object can be
/// released; then calls of plugins return that they are closed.
package final class CHost: @unchecked Sendable {
    // @unchecked: the tables are written before a plugin sees them and never changed afterwards.
    package let table = UnsafeMutablePointer<bg_host>.allocate(capacity: 1)
    private let schedule = immortal(CHost.scheduleTable)
    private let fetches = immortal(CHost.fetchTable)
    private let runs = immortal(CHost.runTable)
    private let statuses = immortal(CHost.statusTable)
    private let clock = immortal(CHost.clockTable)
    private let transfers = immortal(CHost.transferTable)
    private let wakes = immortal(CHost.wakeTable)
    private let notifier = immortal(CHost.notifyTable)
    private let extensions: Set<String>
    private let answers: Mutex<(any HostCalls)?>
    private let numbers = Atomic<UInt64>(0)

    /// Creates a host.
    ///
    /// - Parameters:
    ///   - answers: the object that answers, kept until `close`.
    ///   - extensions: the names of the extensions that plugins find.
    package init(
        _ answers: any HostCalls,
        extensions: Set<String> = [
            BG_EXT_SCHEDULE, BG_EXT_FETCH, BG_EXT_STATUS, BG_EXT_CLOCK, BG_EXT_TRANSFER,
            BG_EXT_WAKE, BG_EXT_NOTIFY, BG_EXT_RUN,
        ]
    ) {
        self.answers = Mutex(answers)
        self.extensions = extensions
        var host = bg_host()
        host.size = UInt32(MemoryLayout<bg_host>.size)
        host.abi_major = UInt16(BG_ABI_MAJOR)
        host.abi_minor = UInt16(BG_ABI_MINOR)
        host.ctx = Unmanaged.passRetained(self).toOpaque()
        host.complete = { host, run, result in
            CHost.ask(host) { calls in
                guard let result = result?.pointee else { return BG_E_ARG }
                return calls.complete(run, RunEndCall(result))
            }
        }
        host.cancelled = { host, run in CHost.ask(host) { $0.cancelled(run) } }
        host.set_state = { host, run, state in CHost.ask(host) { $0.setState(run, state) } }
        host.progress = { host, run, done, total, phase in
            CHost.ask(host) {
                let phase = String(copying: phase)
                return $0.progress(run, ProgressCall(done: done, total: total, phase: phase))
            }
        }
        host.log = { host, run, level, message in
            CHost.ask(host) {
                $0.log(LogCall(run: run, level: level, message: String(copying: message)))
            }
        }
        // The SDK decodes parameters itself.
        host.param = { _, _, _, _, _, _ in BG_E_ABSENT }
        host.extension = { host, name in
            guard let name else { return nil }
            return CHost.of(host)?.find(String(cString: name))
        }
        table.initialize(to: host)
    }

    package var opaque: UnsafeRawPointer { UnsafeRawPointer(table) }

    /// Releases the answering object: later calls return that the plugin is closed.
    package func close() {
        let last = answers.withLock { answers in
            defer { answers = nil }
            return answers
        }
        // Release it outside the lock.
        withExtendedLifetime(last) {}
    }

    /// The host that a table belongs to.
    static func of(_ host: UnsafePointer<bg_host>?) -> CHost? {
        guard let context = host?.pointee.ctx else { return nil }
        return Unmanaged<CHost>.fromOpaque(context).takeUnretainedValue()
    }

    /// Passes a call to the answering object.
    static func ask(
        _ host: UnsafePointer<bg_host>?,
        _ call: (any HostCalls) -> bg_status
    ) -> bg_status {
        guard let host = of(host) else { return BG_E_ARG }
        guard let answers = host.answers.withLock({ $0 }) else { return BG_E_CLOSED }
        return call(answers)
    }

    /// A new number for a fetch or a sleep; the first one is 1.
    func nextNumber() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }

    private func find(_ name: String) -> UnsafeRawPointer? {
        guard extensions.contains(name) else { return nil }
        switch name {
        case BG_EXT_SCHEDULE: return UnsafeRawPointer(schedule)
        case BG_EXT_FETCH: return UnsafeRawPointer(fetches)
        case BG_EXT_RUN: return UnsafeRawPointer(runs)
        case BG_EXT_STATUS: return UnsafeRawPointer(statuses)
        case BG_EXT_CLOCK: return UnsafeRawPointer(clock)
        case BG_EXT_TRANSFER: return UnsafeRawPointer(transfers)
        case BG_EXT_WAKE: return UnsafeRawPointer(wakes)
        case BG_EXT_NOTIFY: return UnsafeRawPointer(notifier)
        default: return nil
        }
    }
}

private func immortal<Value>(_ value: Value) -> UnsafePointer<Value> {
    let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    pointer.initialize(to: value)
    return UnsafePointer(pointer)
}

extension RunEndCall {
    fileprivate init(_ result: bg_result) {
        self.init(
            status: result.status,
            message: String(copying: result.message),
            payload: String(copying: result.payload),
            retryAfter: result.retry_after_ms
        )
    }
}
