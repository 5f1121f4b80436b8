// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostPlugin
internal import BghostWire
internal import CBghost
internal import Glibc
internal import Synchronization

/// How a run ended.
struct RunEnd: Equatable, Sendable {
    var status: Int32
    var message: String
    var at: MonotonicInstant
}

/// How the host answers during a check.
enum HostBehavior: Sendable {
    /// It answers every call at once.
    case prompt
    /// It refuses every call with `BG_E_LIMIT`.
    case refusing
    /// It does not answer calls that a run may wait for.
    case silent
    /// It permits nothing and has nothing.
    case denying
    /// It returns lists of a different length each time.
    case changing
}

/// The host's side of a plugin under check: it records how runs end, and answers calls.
final class RunRecorder: RuntimeEventSink {
    private struct State {
        var ends: [UInt64: RunEnd] = [:]
        var released: Set<UInt64> = []
        /// The numbers of unanswered calls for fetches and waits.
        var open: Set<UInt64> = []
        /// How many lists of each kind were requested.
        var lists: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let answers: Line
    private let hostBehavior: HostBehavior
    private let runtime = Mutex<PluginRuntime?>(nil)
    private let changed = WaitableEvent()

    init(_ hostBehavior: HostBehavior, answers: Line) {
        self.hostBehavior = hostBehavior
        self.answers = answers
    }

    /// Sets the runtime whose calls it answers.
    func serve(_ runtime: PluginRuntime) { self.runtime.withLock { $0 = runtime } }

    /// Waits until the run has ended and its slot is free, and returns how it ended; `nil` after
    /// the timeout, which is served time.
    ///
    /// Only one thread at a time may wait.
    func end(of run: UInt64, milliseconds: Int) -> RunEnd? {
        let limit = UInt64(milliseconds) * 1_000_000
        // Most runs end within this time, and the account of a process with thousands of threads takes longer.
        let plain = min(limit, 50_000_000)
        let start = Monotonic.now
        var time: ServedTime?
        while true {
            // First the time: an end that comes while it is read counts.
            var rest = plain - min(plain, Monotonic.now.since(start))
            if rest == 0, plain < limit {
                if time == nil { time = ServedTime() }
                rest = time?.rest(of: limit - plain) ?? 0
            }
            let end = state.withLock { $0.released.contains(run) ? $0.ends[run] : nil }
            if let end { return end }
            guard rest > 0 else { return nil }
            // The next turn reads the time and the ends itself.
            _ = changed.wait(nanoseconds: rest)
        }
    }

    /// Whether the run is complete; it may not be released yet.
    func isComplete(_ run: UInt64) -> Bool { state.withLock { $0.ends[run] != nil } }

    /// Removes the record of a run, so that the records do not grow.
    func forget(_ run: UInt64) {
        state.withLock { state in
            state.ends[run] = nil
            state.released.remove(run)
        }
    }

    // MARK: RuntimeEventSink

    func completed(_ completion: RunCompletion, mayWait: Bool) {
        let end = RunEnd(
            status: completion.status,
            message: String(decoding: completion.message, as: UTF8.self),
            at: Monotonic.now
        )
        let (run, isReleased) = (completion.run, completion.isReleased)
        state.withLock { state in
            state.ends[run] = end
            if isReleased { state.released.insert(run) }
        }
        changed.signal(0)
    }

    func released(_ run: UInt64) {
        state.withLock { _ = $0.released.insert(run) }
        changed.signal(0)
    }

    func progress(run: UInt64, done: UInt64, total: UInt64, phase: UnsafeRawBufferPointer) {}

    func log(run: UInt64, level: UInt8, dropped: UInt32, text: UnsafeRawBufferPointer) {}

    func call(_ number: UInt64, run: UInt64, _ operation: Call.Operation) -> Bool {
        // Another thread answers, since this stack is the plugin's.
        answers.perform { [self] in answer(number, operation) }
        return true
    }

    private func answer(_ number: UInt64, _ operation: Call.Operation) {
        guard let runtime = runtime.withLock({ $0 }) else { return }
        if case .cancelFetch(let fetch) = operation {
            let wasOpen = state.withLock { $0.open.remove(fetch) != nil }
            if wasOpen { runtime.answer(fetch, HostAnswer(status: BG_E_CANCELLED)) }
            return runtime.answer(number, HostAnswer(status: BG_OK))
        }
        if case .silent = hostBehavior, operation.isLong {
            return state.withLock { _ = $0.open.insert(number) }
        }
        var time = 0
        if let list = operation.list {
            time = state.withLock { state in
                defer { state.lists[list, default: 0] += 1 }
                return state.lists[list] ?? 0
            }
        }
        runtime.answer(number, hostBehavior.answer(to: operation, time: time))
    }
}
