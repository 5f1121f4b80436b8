// SPDX-License-Identifier: Apache-2.0

internal import CBghost

extension CHost {
    static let scheduleTable: bg_schedule = {
        // Start with zeros: fields that a later minor version appends stay empty.
        var table = bg_schedule()
        table.size = UInt32(MemoryLayout<bg_schedule>.size)
        table.submit = { host, request in
            CHost.ask(host) { calls in CHost.submit(request, calls) }
        }
        table.cancel = { host, identifier in
            CHost.ask(host) { $0.cancelPending(String(copying: identifier)) }
        }
        table.cancel_all = { host in CHost.ask(host) { $0.cancelAllPending() } }
        table.pending = { host, out, capacity, total in
            CHost.ask(host) { calls in
                guard let total,
                    capacity == 0 || out?.pointee.size == UInt32(MemoryLayout<bg_pending>.stride)
                else { return BG_E_ARG }
                let (status, requests) = calls.pending()
                total.pointee = requests.count
                for (index, request) in requests.prefix(capacity).enumerated() {
                    out?[index] = request
                }
                return status
            }
        }
        return table
    }()

    private static func submit(
        _ request: UnsafePointer<bg_request>?,
        _ calls: any HostCalls
    ) -> bg_status {
        guard let request = request?.pointee else { return BG_E_ARG }
        return calls.submit(
            SubmitCall(
                kind: request.kind,
                identifier: String(copying: request.task_id),
                parameters: String(copying: request.params),
                earliest: request.earliest_unix_ms,
                needs: request.needs
            )
        )
    }

    static let runTable = bg_runs(
        size: UInt32(MemoryLayout<bg_runs>.size),
        reserved: 0,
        identity: { host, run, out in
            CHost.ask(host) { calls in
                let size = UInt32(MemoryLayout<bg_run_identity>.size)
                guard let out, out.pointee.size >= size else { return BG_E_ARG }
                let (status, identity) = calls.identity(of: run)
                guard status == BG_OK else { return status }
                let given = out.pointee.size
                out.pointee = identity
                out.pointee.size = given
                return status
            }
        },
        // A test host keeps no record of who asked for a run.
        submit: { host, _, request in
            CHost.ask(host) { calls in CHost.submit(request, calls) }
        }
    )

    static let fetchTable = bg_fetches(
        size: UInt32(MemoryLayout<bg_fetches>.size),
        reserved: 0,
        begin: { host, run, request, done, context, out in
            CHost.ask(host) { calls in
                guard let request = request?.pointee, let done, let host = CHost.of(host) else {
                    return BG_E_ARG
                }
                let number = host.nextNumber()
                // Set the number before the fetch starts, since another thread may end it at once.
                out?.pointee = number
                return calls.beginFetch(
                    FetchCall(number, of: run, request, done: done, context: context)
                )
            }
        },
        cancel: { host, number in CHost.ask(host) { $0.cancelFetch(number) } }
    )

    static let statusTable = bg_statuses(
        size: UInt32(MemoryLayout<bg_statuses>.size),
        reserved: 0,
        refresh: { host, out in
            CHost.ask(host) { calls in
                let size = UInt32(MemoryLayout<bg_refresh>.size)
                guard let out, out.pointee.size == size else { return BG_E_ARG }
                let (status, refresh) = calls.refreshStatus()
                out.pointee = refresh
                out.pointee.size = size
                return status
            }
        },
        missed: { host, run, out in
            CHost.ask(host) { calls in
                let size = UInt32(MemoryLayout<bg_missed>.size)
                guard run != 0, let out, out.pointee.size == size else { return BG_E_ARG }
                let (status, missed) = calls.missed(run)
                out.pointee = missed
                out.pointee.size = size
                return status
            }
        }
    )

    static let clockTable = bg_clock(
        size: UInt32(MemoryLayout<bg_clock>.size),
        reserved: 0,
        now: { host, unix, monotonic in
            CHost.ask(host) { calls in
                let time = calls.time
                unix?.pointee = time.unix
                monotonic?.pointee = time.monotonic
                return BG_OK
            }
        },
        sleep: { host, run, until, done, context, out in
            CHost.ask(host) { calls in
                guard let done, let host = CHost.of(host) else { return BG_E_ARG }
                let number = host.nextNumber()
                out?.pointee = number
                return calls.sleep(
                    SleepCall(number: number, run: run, until: until, done: done, context: context)
                )
            }
        },
        wake: { host, number in CHost.ask(host) { $0.wake(number) } }
    )
}
