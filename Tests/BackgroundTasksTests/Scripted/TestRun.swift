// SPDX-License-Identifier: Apache-2.0

import CBghost
import Glibc
import Synchronization
import Testing

/// How a run ended.
struct Ending: Equatable, Sendable {
    var status: bg_status
    var message: String
    /// JSON, or "".
    var payload: String
    /// Milliseconds.
    var retryAfter: Int64

    init(
        status: bg_status,
        message: String = "",
        payload: String = "",
        retryAfter: Int64 = 0
    ) {
        self.status = status
        self.message = message
        self.payload = payload
        self.retryAfter = retryAfter
    }
}

/// One run, as a host carries it out.
final class TestRun: Sendable {
    struct Setting {
        var parameters = "{}"
        var attempt: UInt32 = 1
        var directory = "/tmp"
        var resultBytesMax: UInt32 = 65_536
        /// From now.
        var runtimeNanoseconds: Int64 = 25_000_000_000
    }

    private struct State {
        /// The bits of a pointer, which is no value that can be sent.
        var pointer: UInt = 0
        var ending: Ending?
        var completions = 0
        var why: bg_status = BG_OK
    }

    let number: bg_run
    let ended = Signal<Ending>()
    private let state = Mutex(State())
    private let plugin: OpenPlugin
    private let memory: RunMemory
    private let resultBytesMax: Int

    private static let numbers = Atomic<UInt64>(0)

    init(_ task: UnsafePointer<bg_task>, _ plugin: OpenPlugin, _ setting: Setting) {
        number = Self.numbers.add(1, ordering: .relaxed).newValue
        self.plugin = plugin
        resultBytesMax = Int(setting.resultBytesMax)
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        memory = RunMemory(
            number,
            of: task,
            RunMemory.Setting(
                identifier: "com.example.test",
                parameters: setting.parameters,
                attempt: setting.attempt,
                directory: setting.directory,
                deadline: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
                    + setting.runtimeNanoseconds,
                graceMilliseconds: 5000,
                resultBytesMax: setting.resultBytesMax
            )
        )
    }

    /// What the handler is told; overwritten at the end, as memory of the host may be.
    var info: UnsafeMutablePointer<bg_run_info> { memory.info }
    var why: bg_status { state.withLock { $0.why } }
    var completions: Int { state.withLock { $0.completions } }

    /// A final status ends the run, as for every host.
    @discardableResult func start() -> bg_status {
        let status = plugin.start(memory)
        if status <= 0 { _ = end(Ending(status: status)) }
        return status
    }

    func cancel(_ why: UInt32 = UInt32(BG_WHY_EXPIRED)) {
        let pointer = state.withLock { state in
            state.why = bg_status(bitPattern: why)
            return state.pointer
        }
        plugin.cancel(memory, state: UnsafeMutableRawPointer(bitPattern: pointer), why: why)
    }

    /// What a host may do once a run is complete and its calls have returned: whatever the handler
    /// was told is gone.
    func release() { memory.overwrite() }

    func setState(_ pointer: UnsafeMutableRawPointer?) {
        let bits = UInt(bitPattern: pointer)
        state.withLock { $0.pointer = bits }
    }

    func complete(_ ending: Ending) -> bg_status {
        guard ending.payload.utf8.count <= resultBytesMax else { return BG_E_LIMIT }
        return end(ending)
    }

    private func end(_ ending: Ending) -> bg_status {
        let isFirst = state.withLock { state in
            state.completions += 1
            guard state.ending == nil else { return false }
            state.ending = ending
            return true
        }
        guard isFirst else { return BG_E_STALE }
        ended.send(ending)
        return BG_OK
    }
}
