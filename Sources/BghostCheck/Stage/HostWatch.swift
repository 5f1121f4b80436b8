// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin
internal import CBghost
internal import Glibc
internal import Synchronization

/// Observes each call of the host table, between the plugin and the runtime.
///
/// C functions have no context, so there is one observer per process.
enum HostWatch {
    struct Behavior: Sendable {
        /// Whether the host has extensions.
        var hasExtensions = true
        /// Whether the host refuses every call that it may refuse.
        var refuses = false
        /// The duration of each of the first calls.
        var callMilliseconds: UInt32 = 0
    }

    /// A completion after the run was already over.
    struct Late: Equatable, Sendable {
        /// Whether complete() had been accepted for the run before; otherwise start() had returned
        /// a status.
        var isSecond: Bool
    }

    struct Record: Sendable {
        var completed: Set<UInt64> = []
        var lateCompletions: [UInt64: Late] = [:]
        /// The statuses other than BG_OK, by function.
        var refusals: [String: Set<Int32>] = [:]
        /// Functions that were called after close().
        var afterClose: Set<String> = []
        /// Functions that were called with a different host table.
        var wrongHost: Set<String> = []
    }

    private struct Originals: @unchecked Sendable {
        // @unchecked: functions that never change.
        let table: bg_host
    }

    private static let originals = Mutex<Originals?>(nil)
    private static let given = Mutex<Set<UInt>>([])
    private static let behavior = Mutex(Behavior())
    private static let record = Mutex(Record())
    private static let slowCalls = Atomic(0)

    /// The most slowed calls; with more, a check would take too long.
    static let slowCallsMax = 40

    /// What was observed so far.
    static var seen: Record { record.withLock { $0 } }

    /// Removes the records of completed runs, so that they do not grow.
    static func forgetRuns() {
        record.withLock { record in
            record.completed = []
            record.lateCompletions = [:]
        }
    }

    /// Replaces the functions of a filled table, which is not yet write-protected.
    static func install(in table: UnsafeMutablePointer<bg_host>, _ behavior: Behavior) {
        Self.behavior.withLock { $0 = behavior }
        // All runtimes have the same functions; the functions find their runtime by the table.
        let original = Originals(table: table.pointee)
        originals.withLock { $0 = $0 ?? original }
        let address = UInt(bitPattern: table)
        given.withLock { _ = $0.insert(address) }
        table.pointee.complete = { HostWatch.complete($0, $1, $2) }
        table.pointee.cancelled = { host, run in
            HostWatch.pass("cancelled", host) { $0.cancelled(host, run) }
        }
        table.pointee.set_state = { host, run, state in
            HostWatch.pass("set_state", host, mayRefuse: true) { $0.set_state(host, run, state) }
        }
        table.pointee.progress = { host, run, done, total, phase in
            HostWatch.pass("progress", host, mayRefuse: true) {
                $0.progress(host, run, done, total, phase)
            }
        }
        table.pointee.log = { host, run, level, message in
            HostWatch.pass("log", host, mayRefuse: true) { $0.log(host, run, level, message) }
        }
        table.pointee.param = { host, run, pointer, buffer, capacity, need in
            HostWatch.pass("param", host, mayRefuse: true) {
                $0.param(host, run, pointer, buffer, capacity, need)
            }
        }
        table.pointee.extension = { host, name in
            guard HostWatch.behavior.withLock(\.hasExtensions),
                HostWatch.isGiven(host, "extension"),
                let name, let originals = HostWatch.originals.withLock({ $0 })
            else { return nil }
            HostWatch.takeTime()
            return originals.table.extension(host, name).map {
                ExtensionWatch.table(String(cString: name), $0)
            }
        }
    }

    private static func isGiven(_ host: UnsafePointer<bg_host>?, _ name: String) -> Bool {
        let address = UInt(bitPattern: host)
        guard !given.withLock({ $0.contains(address) }) else { return true }
        record.withLock { _ = $0.wrongHost.insert(name) }
        return false
    }

    /// Waits as a slow host would.
    private static func takeTime() {
        let milliseconds = behavior.withLock(\.callMilliseconds)
        guard milliseconds > 0,
            slowCalls.add(1, ordering: .relaxed).newValue <= slowCallsMax
        else { return }
        usleep(milliseconds * 1000)
    }

    /// Makes a call for the plugin, and records its status.
    static func pass(
        _ name: String,
        _ host: UnsafePointer<bg_host>?,
        mayRefuse: Bool = false,
        _ call: (bg_host) -> bg_status
    ) -> bg_status {
        guard isGiven(host, name) else { return BG_E_ARG }
        takeTime()
        if mayRefuse, behavior.withLock(\.refuses) { return BG_E_LIMIT }
        guard let originals = originals.withLock({ $0 }) else { return BG_E_ARG }
        let answer = call(originals.table)
        guard answer < 0 else { return answer }
        record.withLock { record in
            record.refusals[name, default: []].insert(answer)
            if answer == BG_E_CLOSED { record.afterClose.insert(name) }
        }
        return answer
    }

    private static func complete(
        _ host: UnsafePointer<bg_host>?,
        _ run: bg_run,
        _ result: UnsafePointer<bg_result>?
    ) -> bg_status {
        let answer = pass("complete", host) { $0.complete(host, run, result) }
        record.withLock { record in
            switch answer {
            case BG_OK: record.completed.insert(run)
            case BG_E_STALE:
                record.lateCompletions[run] = Late(isSecond: record.completed.contains(run))
            default: break
            }
        }
        return answer
    }
}
