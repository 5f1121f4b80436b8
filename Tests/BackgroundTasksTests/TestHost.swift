// SPDX-License-Identifier: Apache-2.0

import CBghost
import Glibc
import Synchronization

/// A small host: the C table of the ABI, with what plugins called it for.
///
/// It is never freed, as the ABI demands of a host.
final class TestHost: @unchecked Sendable {
    struct Progress: Equatable {
        var done: UInt64
        var total: UInt64
        var phase: String
    }

    struct Log: Equatable {
        var run: bg_run
        var level: UInt32
        var message: String
    }

    struct Submission: Equatable {
        var kind: UInt32
        var identifier: String
        var parameters: String
        var earliest: Int64
        var needs: UInt32
    }

    struct State {
        var progress: [Progress] = []
        var logs: [Log] = []
        var submissions: [Submission] = []
        var cancelled: [String] = []
        /// What `submit` and `cancel` answer.
        var answer = BG_OK
        var pending: [bg_pending] = []
        var refresh = bg_refresh()
        var missed = bg_missed()
        var fetches: [FetchCall] = []
        /// What `begin` of a fetch answers.
        var fetchAnswer = BG_OK
        var fetchesCancelled: [bg_fetch] = []
        var runs: [bg_run: TestRun] = [:]
    }

    let state = Mutex(State())
    /// Comes with the first fetch.
    let fetchBegan = Signal<FetchCall>()
    /// Comes with the first line of the log.
    let logged = Signal<Log>()
    let fetchCancelled = Signal<bg_fetch>()
    /// What happens as a fetch begins, on the stack of the call; for what overtakes it.
    let onFetch = Mutex<(@Sendable (FetchCall) -> Void)?>(nil)
    /// Written before a plugin sees it, never changed after.
    let table = UnsafeMutablePointer<bg_host>.allocate(capacity: 1)
    private let schedule = UnsafeMutablePointer<bg_schedule>.allocate(capacity: 1)
    private let fetches = UnsafeMutablePointer<bg_fetches>.allocate(capacity: 1)
    private let statuses = UnsafeMutablePointer<bg_statuses>.allocate(capacity: 1)
    private let extensions: Set<String>

    init(extensions: Set<String> = [BG_EXT_SCHEDULE, BG_EXT_FETCH, BG_EXT_STATUS]) {
        self.extensions = extensions
        schedule.initialize(to: Self.scheduleTable)
        fetches.initialize(to: Self.fetchTable)
        statuses.initialize(to: Self.statusTable)
        let itself = Unmanaged.passRetained(self).toOpaque()
        table.initialize(
            to: bg_host(
                size: UInt32(MemoryLayout<bg_host>.size),
                abi_major: 1,
                abi_minor: 0,
                ctx: itself,
                name: bg_str(ptr: nil, len: 0),
                version: bg_str(ptr: nil, len: 0),
                complete: { host, run, result in TestHost.of(host).complete(run, result) },
                cancelled: { host, run in TestHost.of(host).run(run)?.why ?? BG_E_STALE },
                set_state: { host, run, state in
                    guard let run = TestHost.of(host).run(run) else { return BG_E_STALE }
                    run.setState(state)
                    return BG_OK
                },
                progress: { host, _, done, total, phase in
                    let progress = Progress(done: done, total: total, phase: text(phase))
                    TestHost.of(host).state.withLock { $0.progress.append(progress) }
                    return BG_OK
                },
                log: { host, run, level, message in
                    let log = Log(run: run, level: level, message: text(message))
                    TestHost.of(host).state.withLock { $0.logs.append(log) }
                    TestHost.of(host).logged.send(log)
                    return BG_OK
                },
                param: { _, _, _, _, _, _ in BG_E_ABSENT },
                extension: { host, name in
                    name.flatMap { TestHost.of(host).find(String(cString: $0)) }
                }
            )
        )
    }

    var opaque: UnsafeRawPointer { UnsafeRawPointer(table) }
    var logs: [Log] { state.withLock { $0.logs } }

    static func of(_ host: UnsafePointer<bg_host>?) -> TestHost {
        guard let ctx = host?.pointee.ctx else { fatalError("a plugin called without its host") }
        return Unmanaged<TestHost>.fromOpaque(ctx).takeUnretainedValue()
    }

    func add(_ run: TestRun) { state.withLock { $0.runs[run.number] = run } }

    private func run(_ number: bg_run) -> TestRun? { state.withLock { $0.runs[number] } }

    private func complete(_ run: bg_run, _ result: UnsafePointer<bg_result>?) -> bg_status {
        guard let run = self.run(run) else { return BG_E_STALE }
        guard let result else { return BG_E_ARG }
        return run.complete(result.pointee)
    }

    private func find(_ name: String) -> UnsafeRawPointer? {
        guard extensions.contains(name) else { return nil }
        switch name {
        case BG_EXT_SCHEDULE: return UnsafeRawPointer(schedule)
        case BG_EXT_FETCH: return UnsafeRawPointer(fetches)
        case BG_EXT_STATUS: return UnsafeRawPointer(statuses)
        default: return nil
        }
    }
}

/// Copies text of a plugin.
func text(_ text: bg_str) -> String {
    String(decoding: UnsafeRawBufferPointer(start: text.ptr, count: text.len), as: UTF8.self)
}
