// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CBghost
internal import Synchronization

/// Observes calls of extension tables, as `HostWatch` observes those of the host table.
enum ExtensionWatch {
    private struct Tables: @unchecked Sendable {
        // @unchecked: written before it is shared, and not changed afterwards.
        let original: UnsafeRawPointer
        let watched: UnsafeRawPointer
    }

    private static let known = Mutex<[String: Tables]>([:])

    /// The table that the plugin gets instead of an extension's own.
    static func table(_ name: String, _ original: UnsafeRawPointer) -> UnsafeRawPointer {
        let tables = known.withLock { known in
            let tables =
                known[name] ?? Tables(original: original, watched: watch(name, original))
            known[name] = tables
            return tables
        }
        return tables.watched
    }

    private static func watch(_ name: String, _ original: UnsafeRawPointer) -> UnsafeRawPointer {
        guard let known = HostExtension(rawValue: name) else { return original }
        return switch known {
        case .schedule: copy(original, watchSchedule)
        case .status: copy(original, watchStatuses)
        case .fetch: copy(original, watchFetches)
        case .transfer: copy(original, watchTransfers)
        case .notify: copy(original, watchNotifier)
        case .run: copy(original, watchRuns)
        case .checkpoint: copy(original, watchCheckpoints)
        case .main: copy(original, watchMain)
        case .wake: copy(original, watchWakes)
        case .trace: copy(original, watchTraces)
        // Workers do not have it.
        case .clock: original
        }
    }

    /// A copy of a table with changes; it is never freed.
    private static func copy<T>(
        _ original: UnsafeRawPointer,
        _ change: (inout T) -> Void
    ) -> UnsafeRawPointer {
        let table = UnsafeMutablePointer<T>.allocate(capacity: 1)
        table.initialize(to: original.load(as: T.self))
        change(&table.pointee)
        return UnsafeRawPointer(table)
    }

    /// The runtime's own table of an extension.
    ///
    /// Only functions of the copy call this, so the table exists.
    private static func original<T>(_ name: String) -> UnsafePointer<T>? {
        known.withLock { $0[name] }?.original.assumingMemoryBound(to: T.self)
    }

    private static func pass<T>(
        _ name: String,
        _ function: String,
        _ host: UnsafePointer<bg_host>?,
        _ call: (T) -> bg_status
    ) -> bg_status {
        guard let table: UnsafePointer<T> = original(name) else { return BG_E_ARG }
        return HostWatch.pass("\(T.self).\(function)", host) { _ in call(table.pointee) }
    }

    // MARK: The tables

    private static func watchRuns(_ table: inout bg_runs) {
        table.identity = { host, run, out in
            ExtensionWatch.pass(BG_EXT_RUN, "identity", host) { (its: bg_runs) in
                its.identity(host, run, out)
            }
        }
        table.submit = { host, run, request in
            ExtensionWatch.pass(BG_EXT_RUN, "submit", host) { (its: bg_runs) in
                its.submit(host, run, request)
            }
        }
        table.error = { host, run, error in
            ExtensionWatch.pass(BG_EXT_RUN, "error", host) { (its: bg_runs) in
                its.error(host, run, error)
            }
        }
    }

    private static func watchCheckpoints(_ table: inout bg_checkpoints) {
        table.save = { host, run, bytes, length in
            ExtensionWatch.pass(BG_EXT_CHECKPOINT, "save", host) { (its: bg_checkpoints) in
                its.save(host, run, bytes, length)
            }
        }
        table.load = { host, run, buffer, capacity, need in
            ExtensionWatch.pass(BG_EXT_CHECKPOINT, "load", host) { (its: bg_checkpoints) in
                its.load(host, run, buffer, capacity, need)
            }
        }
    }

    private static func watchTraces(_ table: inout bg_traces) {
        table.context = { host, run, out in
            ExtensionWatch.pass(BG_EXT_TRACE, "context", host) { (its: bg_traces) in
                its.context(host, run, out)
            }
        }
    }

    private static func watchMain(_ table: inout bg_main) {
        table.serve = { host, descriptor, call, context in
            ExtensionWatch.pass(BG_EXT_MAIN, "serve", host) { (its: bg_main) in
                its.serve(host, descriptor, call, context)
            }
        }
    }

    private static func watchSchedule(_ table: inout bg_schedule) {
        table.submit = { host, request in
            ExtensionWatch.pass(BG_EXT_SCHEDULE, "submit", host) { (its: bg_schedule) in
                its.submit(host, request)
            }
        }
        table.cancel = { host, task in
            ExtensionWatch.pass(BG_EXT_SCHEDULE, "cancel", host) { (its: bg_schedule) in
                its.cancel(host, task)
            }
        }
        table.cancel_all = { host in
            ExtensionWatch.pass(BG_EXT_SCHEDULE, "cancel_all", host) { (its: bg_schedule) in
                its.cancel_all(host)
            }
        }
        table.pending = { host, out, capacity, total in
            ExtensionWatch.pass(BG_EXT_SCHEDULE, "pending", host) { (its: bg_schedule) in
                its.pending(host, out, capacity, total)
            }
        }
    }

    private static func watchStatuses(_ table: inout bg_statuses) {
        table.refresh = { host, out in
            ExtensionWatch.pass(BG_EXT_STATUS, "refresh", host) { (its: bg_statuses) in
                its.refresh(host, out)
            }
        }
        table.missed = { host, run, out in
            ExtensionWatch.pass(BG_EXT_STATUS, "missed", host) { (its: bg_statuses) in
                its.missed(host, run, out)
            }
        }
    }

    private static func watchFetches(_ table: inout bg_fetches) {
        table.begin = { host, run, request, done, context, out in
            ExtensionWatch.pass(BG_EXT_FETCH, "begin", host) { (its: bg_fetches) in
                its.begin(host, run, request, done, context, out)
            }
        }
        table.cancel = { host, fetch in
            ExtensionWatch.pass(BG_EXT_FETCH, "cancel", host) { (its: bg_fetches) in
                its.cancel(host, fetch)
            }
        }
    }

    private static func watchTransfers(_ table: inout bg_transfers) {
        table.begin = { host, run, request, out in
            ExtensionWatch.pass(BG_EXT_TRANSFER, "begin", host) { (its: bg_transfers) in
                its.begin(host, run, request, out)
            }
        }
        table.wait = { host, run, transfer, done, context in
            ExtensionWatch.pass(BG_EXT_TRANSFER, "wait", host) { (its: bg_transfers) in
                its.wait(host, run, transfer, done, context)
            }
        }
        table.cancel = { host, transfer in
            ExtensionWatch.pass(BG_EXT_TRANSFER, "cancel", host) { (its: bg_transfers) in
                its.cancel(host, transfer)
            }
        }
        table.list = { host, session, after, buffer, capacity, need in
            ExtensionWatch.pass(BG_EXT_TRANSFER, "list", host) { (its: bg_transfers) in
                its.list(host, session, after, buffer, capacity, need)
            }
        }
        table.acknowledge = { host, transfer in
            ExtensionWatch.pass(BG_EXT_TRANSFER, "acknowledge", host) { (its: bg_transfers) in
                its.acknowledge(host, transfer)
            }
        }
    }

    private static func watchWakes(_ table: inout bg_wakes) {
        table.keep = { host, run, transfers, count in
            ExtensionWatch.pass(BG_EXT_WAKE, "keep", host) { (its: bg_wakes) in
                its.keep(host, run, transfers, count)
            }
        }
        table.claim = { host, run, session, buffer, capacity, need in
            ExtensionWatch.pass(BG_EXT_WAKE, "claim", host) { (its: bg_wakes) in
                its.claim(host, run, session, buffer, capacity, need)
            }
        }
    }

    private static func watchNotifier(_ table: inout bg_notifier) {
        table.post = { host, run, notification in
            ExtensionWatch.pass(BG_EXT_NOTIFY, "post", host) { (its: bg_notifier) in
                its.post(host, run, notification)
            }
        }
        table.withdraw = { host, id in
            ExtensionWatch.pass(BG_EXT_NOTIFY, "withdraw", host) { (its: bg_notifier) in
                its.withdraw(host, id)
            }
        }
        table.pending = { host, buffer, capacity, need in
            ExtensionWatch.pass(BG_EXT_NOTIFY, "pending", host) { (its: bg_notifier) in
                its.pending(host, buffer, capacity, need)
            }
        }
    }
}
