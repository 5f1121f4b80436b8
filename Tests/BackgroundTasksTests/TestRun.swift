// SPDX-License-Identifier: Apache-2.0

import CBghost
import Glibc
import Synchronization
import Testing

/// How a run ended.
struct Ending: Equatable, Sendable {
    var status: bg_status
    var message = ""
    var payload = ""
    var retryAfter: Int64 = 0
}

/// One run, as a host carries it out.
final class TestRun: @unchecked Sendable {
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
    private let task: UnsafePointer<bg_task>
    private let instance: UnsafeMutableRawPointer
    private let resultBytesMax: Int
    /// What the handler is told; overwritten at the end, as memory of the host may be.
    let info = UnsafeMutablePointer<bg_run_info>.allocate(capacity: 1)
    private let texts: UnsafeMutableRawBufferPointer

    private static let numbers = Atomic<UInt64>(0)

    init(_ task: UnsafePointer<bg_task>, _ instance: UnsafeMutableRawPointer, _ setting: Setting) {
        number = Self.numbers.add(1, ordering: .relaxed).newValue
        self.task = task
        self.instance = instance
        resultBytesMax = Int(setting.resultBytesMax)
        let parts = ["com.example.test", setting.parameters, setting.directory].map {
            Array($0.utf8)
        }
        texts = .allocate(byteCount: parts.joined().count, alignment: 1)
        texts.copyBytes(from: parts.joined())
        var offset = 0
        let strings = parts.map { part in
            defer { offset += part.count }
            return bg_str(
                ptr: texts.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self),
                len: part.count
            )
        }
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        info.initialize(
            to: bg_run_info(
                size: UInt32(MemoryLayout<bg_run_info>.size),
                attempt: setting.attempt,
                run: number,
                task_id: strings[0],
                params: strings[1],
                data_dir: strings[2],
                deadline_mono_ns: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
                    + setting.runtimeNanoseconds,
                grace_ms: 5000,
                max_result: setting.resultBytesMax,
                cancel_fd: -1,
                flags: UInt32(BG_RUN_WORKER),
                task: task
            )
        )
    }

    var why: bg_status { state.withLock { $0.why } }
    var completions: Int { state.withLock { $0.completions } }

    /// A final status ends the run, as for every host.
    @discardableResult func start() -> bg_status {
        let status = task.pointee.start(instance, info)
        if status <= 0 { _ = end(Ending(status: status)) }
        return status
    }

    func cancel(_ why: UInt32 = UInt32(BG_WHY_EXPIRED)) {
        let pointer = state.withLock { state in
            state.why = bg_status(bitPattern: why)
            return state.pointer
        }
        task.pointee.cancel(instance, number, UnsafeMutableRawPointer(bitPattern: pointer), why)
    }

    /// What a host may do once a run is complete and its calls have returned: whatever the handler
    /// was told is gone.
    func release() {
        texts.initializeMemory(as: UInt8.self, repeating: 0xAA)
        memset(info, 0xAA, MemoryLayout<bg_run_info>.size)
    }

    func setState(_ pointer: UnsafeMutableRawPointer?) {
        let bits = UInt(bitPattern: pointer)
        state.withLock { $0.pointer = bits }
    }

    func complete(_ result: bg_result) -> bg_status {
        guard result.payload.len <= resultBytesMax else { return BG_E_LIMIT }
        let ending = Ending(
            status: result.status,
            message: text(result.message),
            payload: text(result.payload),
            retryAfter: result.retry_after_ms
        )
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
