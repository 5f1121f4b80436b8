// SPDX-License-Identifier: Apache-2.0

import CBghost

/// The C tables of a scripted host, whose functions call it.
extension ScriptedHost {
    /// The host that a table belongs to.
    private static func of(_ host: UnsafePointer<bg_host>?) -> ScriptedHost? {
        guard let context = host?.pointee.ctx else { return nil }
        return Unmanaged<ScriptedHost>.fromOpaque(context).takeUnretainedValue()
    }

    private static func ask(
        _ host: UnsafePointer<bg_host>?,
        _ call: (ScriptedHost) -> bg_status
    ) -> bg_status {
        of(host).map(call) ?? BG_E_ARG
    }

    /// Fills the host's table, which keeps the host alive for ever.
    func fill(_ table: UnsafeMutablePointer<bg_host>) {
        var host = bg_host()
        host.size = UInt32(MemoryLayout<bg_host>.size)
        host.abi_major = UInt16(BG_ABI_MAJOR)
        host.abi_minor = UInt16(BG_ABI_MINOR)
        host.ctx = Unmanaged.passRetained(self).toOpaque()
        host.complete = { host, run, result in
            ScriptedHost.ask(host) { host in
                guard let result = result?.pointee else { return BG_E_ARG }
                return host.complete(run, Ending(result))
            }
        }
        host.cancelled = { host, run in ScriptedHost.ask(host) { $0.cancelled(run) } }
        host.set_state = { host, run, state in
            ScriptedHost.ask(host) { $0.setState(run, state) }
        }
        host.progress = { host, _, done, total, phase in
            ScriptedHost.ask(host) {
                $0.progress(Progress(done: done, total: total, phase: String(copying: phase)))
            }
        }
        host.log = { host, run, level, message in
            ScriptedHost.ask(host) {
                $0.log(Log(run: run, level: level, message: String(copying: message)))
            }
        }
        // The SDK decodes parameters itself.
        host.param = { _, _, _, _, _, _ in BG_E_ABSENT }
        host.extension = { host, name in
            name.flatMap { ScriptedHost.of(host)?.find(String(cString: $0)) }
        }
        table.initialize(to: host)
    }

    private func find(_ name: String) -> UnsafeRawPointer? {
        extensions.contains(name) ? Tables.shared.all[name] : nil
    }

    /// The tables of the extensions by name, which are the same for every host and are never freed.
    private struct Tables: @unchecked Sendable {
        // @unchecked: written once, before the first reader.
        static let shared = Tables()

        let all: [String: UnsafeRawPointer] = [
            BG_EXT_SCHEDULE: immortal(ScriptedHost.scheduleTable),
            BG_EXT_FETCH: immortal(ScriptedHost.fetchTable),
            BG_EXT_STATUS: immortal(ScriptedHost.statusTable),
            BG_EXT_CLOCK: immortal(ScriptedHost.clockTable),
            BG_EXT_TRANSFER: immortal(ScriptedHost.transferTable),
            BG_EXT_NOTIFY: immortal(ScriptedHost.notifyTable),
        ]
    }

    private static var scheduleTable: bg_schedule {
        var table = bg_schedule()
        table.size = UInt32(MemoryLayout<bg_schedule>.size)
        table.submit = { host, request in
            ScriptedHost.ask(host) { host in
                guard let request = request?.pointee else { return BG_E_ARG }
                return host.submit(Submission(request))
            }
        }
        table.cancel = { host, identifier in
            ScriptedHost.ask(host) { $0.cancelPending(String(copying: identifier)) }
        }
        table.cancel_all = { host in ScriptedHost.ask(host) { $0.cancelPending("*") } }
        table.pending = { host, out, capacity, total in
            ScriptedHost.ask(host) { host in
                guard let total,
                    capacity == 0 || out?.pointee.size == UInt32(MemoryLayout<bg_pending>.stride)
                else { return BG_E_ARG }
                let (status, requests) = host.pending()
                total.pointee = requests.count
                for (index, request) in requests.prefix(capacity).enumerated() {
                    out?[index] = request
                }
                return status
            }
        }
        return table
    }

    private static var fetchTable: bg_fetches {
        bg_fetches(
            size: UInt32(MemoryLayout<bg_fetches>.size),
            reserved: 0,
            begin: { host, run, request, done, context, out in
                ScriptedHost.ask(host) { host in
                    guard let request = request?.pointee, let done else { return BG_E_ARG }
                    let number = host.nextNumber()
                    // Set the number before the fetch starts, since another thread may end it at
                    // once.
                    out?.pointee = number
                    return host.beginFetch(
                        FetchCall(number, of: run, request, done: done, context: context)
                    )
                }
            },
            cancel: { host, number in ScriptedHost.ask(host) { $0.cancelFetch(number) } }
        )
    }

    private static var statusTable: bg_statuses {
        bg_statuses(
            size: UInt32(MemoryLayout<bg_statuses>.size),
            reserved: 0,
            refresh: { host, out in
                ScriptedHost.ask(host) { host in
                    let size = UInt32(MemoryLayout<bg_refresh>.size)
                    guard let out, out.pointee.size == size else { return BG_E_ARG }
                    let (status, refresh) = host.refreshStatus()
                    out.pointee = refresh
                    out.pointee.size = size
                    return status
                }
            },
            missed: { host, run, out in
                ScriptedHost.ask(host) { host in
                    let size = UInt32(MemoryLayout<bg_missed>.size)
                    guard run != 0, let out, out.pointee.size == size else { return BG_E_ARG }
                    let (status, missed) = host.missed()
                    out.pointee = missed
                    out.pointee.size = size
                    return status
                }
            }
        )
    }

    private static var clockTable: bg_clock {
        bg_clock(
            size: UInt32(MemoryLayout<bg_clock>.size),
            reserved: 0,
            now: { host, unix, monotonic in
                ScriptedHost.ask(host) { host in
                    let time = host.time
                    unix?.pointee = time.unix
                    monotonic?.pointee = time.monotonic
                    return BG_OK
                }
            },
            sleep: { host, run, until, done, context, out in
                ScriptedHost.ask(host) { host in
                    guard let done else { return BG_E_ARG }
                    let number = host.nextNumber()
                    out?.pointee = number
                    return host.sleep(
                        SleepCall(
                            number: number,
                            run: run,
                            until: until,
                            done: done,
                            context: context
                        )
                    )
                }
            },
            wake: { host, number in ScriptedHost.ask(host) { $0.wake(number) } }
        )
    }

    private static var transferTable: bg_transfers {
        bg_transfers(
            size: UInt32(MemoryLayout<bg_transfers>.size),
            reserved: 0,
            begin: { host, _, request, out in
                ScriptedHost.ask(host) { host in
                    guard let request = request?.pointee, let out else { return BG_E_ARG }
                    out.pointee = bg_transfer(text: host.beginTransfer(TransferCall(request)))
                    return BG_OK
                }
            },
            wait: { host, _, transfer, done, context in
                ScriptedHost.ask(host) { host in
                    guard let transfer = transfer?.pointee, let done else { return BG_E_ARG }
                    return host.waitForTransfer(
                        TransferWaitCall(id: transfer.text, done: done, context: context)
                    )
                }
            },
            cancel: { _, _ in BG_E_ABSENT },
            list: { _, _, _, _, _, _ in BG_E_ABSENT },
            acknowledge: { _, _ in BG_E_ABSENT }
        )
    }

    private static var notifyTable: bg_notifier {
        bg_notifier(
            size: UInt32(MemoryLayout<bg_notifier>.size),
            reserved: 0,
            post: { host, _, notification in
                ScriptedHost.ask(host) { host in
                    guard let notification = notification?.pointee else { return BG_E_ARG }
                    return host.post(body: String(copying: notification.body))
                }
            },
            withdraw: { _, _ in BG_E_ABSENT },
            pending: { _, _, _, _ in BG_E_ABSENT }
        )
    }
}

/// A copy that is never freed, as the ABI requires of tables.
private func immortal<Value>(_ value: Value) -> UnsafeRawPointer {
    let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    pointer.initialize(to: value)
    return UnsafeRawPointer(pointer)
}

extension Ending {
    fileprivate init(_ result: bg_result) {
        self.init(
            status: result.status,
            message: String(copying: result.message),
            payload: String(copying: result.payload),
            retryAfter: result.retry_after_ms
        )
    }
}

extension ScriptedHost.Submission {
    fileprivate init(_ request: bg_request) {
        self.init(
            kind: request.kind,
            identifier: String(copying: request.task_id),
            parameters: String(copying: request.params),
            earliest: request.earliest_unix_ms,
            needs: request.needs
        )
    }
}

extension String {
    /// Copies a plugin's text.
    init(copying text: bg_str) {
        self.init(decoding: UnsafeRawBufferPointer(start: text.ptr, count: text.len), as: UTF8.self)
    }

    /// Lends the text to a plugin for the duration of one call.
    func lend<Result>(_ body: (bg_str) throws -> Result) rethrows -> Result {
        var copy = self
        return try copy.withUTF8 { bytes in
            let start = UnsafeRawPointer(bytes.baseAddress)
            return try body(
                bg_str(ptr: start?.assumingMemoryBound(to: CChar.self), len: bytes.count)
            )
        }
    }
}
