// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
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
}

/// The host's end of a plugin that is being checked: it writes down how runs end, and answers calls.
final class RunBook: RuntimeVoice {
    private struct State {
        var ends: [UInt64: RunEnd] = [:]
        var released: Set<UInt64> = []
        /// Fetches and waits that are not answered, by the number of the call.
        var open: Set<UInt64> = []
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
        switch mood {
        case .refusing:
            runtime.answer(number, HostAnswer(status: BG_E_LIMIT))
        case .silent where operation.isLong:
            state.withLock { _ = $0.open.insert(number) }
        case .prompt, .silent:
            runtime.answer(number, HostAnswer(status: BG_OK, body: operation.friendlyAnswer))
        }
    }
}

extension Call.Operation {
    /// Whether a run may wait for it as long as the host likes.
    fileprivate var isLong: Bool {
        switch self {
        case .fetch, .transfer(.wait): true
        default: false
        }
    }

    /// The least that the call can be answered with if it succeeds.
    fileprivate var friendlyAnswer: HostAnswer.Body {
        switch self {
        case .pending: .pending([])
        case .fetch: .fetched(httpStatus: 200, headers: "", message: "", body: [])
        case .notifications:
            .fetched(httpStatus: 0, headers: "", message: "", body: Array("[]".utf8))
        case .situation: .situation(Situation(refresh: UInt32(BG_REFRESH_AVAILABLE)))
        case .transfer(.begin): .transfer(id: "00000000000000000000000001")
        case .transfer(.wait): .transfers(Array(Self.transfer.utf8))
        case .transfer(.list): .transfers(Array("[]".utf8))
        default: .none
        }
    }

    private static let transfer = """
        {"id":"00000000000000000000000001","session":"check","url":"https://example.org/",\
        "label":"","continuation":"","upload":false,"state":"failed","status":0,"headers":[],\
        "body":"","file":"","bytes":0,"total":-1,\
        "fault":{"code":"network","message":"checked without a network"}}
        """
}
