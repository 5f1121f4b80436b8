// SPDX-License-Identifier: Apache-2.0

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
    var at: UInt64
}

/// What a plugin's host answers while it is checked.
enum HostMood: Sendable {
    /// All that is asked for, at once.
    case prompt
    /// Nothing: each call is too many.
    case refusing
    /// What a run waits for does not come until it gives up.
    case silent
    /// That nothing is permitted, and nothing is there.
    case denying
    /// Lists that are longer or shorter each time.
    case changing
}

/// The host's end of a plugin that is being checked: it writes down how runs end, and answers calls.
final class RunBook: RuntimeVoice {
    private struct State {
        var ends: [UInt64: RunEnd] = [:]
        var released: Set<UInt64> = []
        /// Fetches and waits that are not answered, by the number of the call.
        var open: Set<UInt64> = []
        /// How many lists of a kind have been asked for.
        var lists: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let answers: Line
    private let mood: HostMood
    private let runtime = Mutex<PluginRuntime?>(nil)
    private let changed = Bell()

    init(_ mood: HostMood, answers: Line) {
        self.mood = mood
        self.answers = answers
    }

    /// Says whose calls are to be answered.
    func serve(_ runtime: PluginRuntime) { self.runtime.withLock { $0 = runtime } }

    /// How the run ended, once it has and its lane is free; `nil` if that was not in time.
    ///
    /// For one waiting thread at a time.
    func end(of run: UInt64, milliseconds: Int) -> RunEnd? {
        let limit = Monotonic.now + UInt64(milliseconds) * 1_000_000
        while true {
            let end = state.withLock { $0.released.contains(run) ? $0.ends[run] : nil }
            if let end { return end }
            let now = Monotonic.now
            guard now < limit else { return nil }
            _ = changed.wait(milliseconds: Int((limit - now) / 1_000_000) + 1)
        }
    }

    /// Whether the run is complete, though it may not have been released.
    func isComplete(_ run: UInt64) -> Bool { state.withLock { $0.ends[run] != nil } }

    /// Forgets a run, so that what is written down does not grow.
    func forget(_ run: UInt64) {
        state.withLock { state in
            state.ends[run] = nil
            state.released.remove(run)
        }
    }

    // MARK: RuntimeVoice

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
        changed.ring(with: 0)
    }

    func released(_ run: UInt64) {
        state.withLock { _ = $0.released.insert(run) }
        changed.ring(with: 0)
    }

    func progress(run: UInt64, done: UInt64, total: UInt64, phase: UnsafeRawBufferPointer) {}

    func log(run: UInt64, level: UInt8, dropped: UInt32, text: UnsafeRawBufferPointer) {}

    func call(_ number: UInt64, run: UInt64, _ operation: Call.Operation) -> Bool {
        // Never on the stack of the call: it is the plugin's.
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
        if case .silent = mood, operation.isLong {
            return state.withLock { _ = $0.open.insert(number) }
        }
        var time = 0
        if let list = operation.list {
            time = state.withLock { state in
                defer { state.lists[list, default: 0] += 1 }
                return state.lists[list] ?? 0
            }
        }
        runtime.answer(number, mood.answer(to: operation, time: time))
    }
}
