// SPDX-License-Identifier: Apache-2.0

import CBghost
import Synchronization

/// A host that answers as a test says, and keeps what plugins called it for.
///
/// It has tables of its own instead of `PluginRuntime` of `BghostPlugin`, because these tests are about
/// the SDK on any host that the ABI permits, and that runtime is one of them: it cannot refuse a fetch
/// with a status of a later host, have an older or shorter table, end a fetch on the stack that began
/// it, start a run that it does not know, or overwrite the memory of a run. Tests of handlers use
/// `TestHost`, which has the runtime.
final class ScriptedHost: Sendable {
    struct Progress: Equatable, Sendable {
        var done: UInt64
        var total: UInt64
        var phase: String
    }

    struct Log: Equatable, Sendable {
        var run: bg_run
        var level: UInt32
        var message: String
    }

    struct Submission: Equatable, Sendable {
        var kind: UInt32
        var identifier: String
        var parameters: String
        /// Unix milliseconds; 0 means none.
        var earliest: Int64
        var needs: UInt32
    }

    struct Notification: Equatable, Sendable {
        var body: String
    }

    /// The host's table in memory that is never freed.
    private struct Table: @unchecked Sendable {
        // @unchecked: written before a plugin sees it, and only by tests of odd tables afterwards.
        let pointer = UnsafeMutablePointer<bg_host>.allocate(capacity: 1)
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
        var transfers: [TransferCall] = []
        var notifications: [Notification] = []
        /// What `post` answers.
        var postAnswer = BG_OK
        /// What `begin` of a fetch answers.
        var fetchAnswer = BG_OK
        var time: (unix: Int64, monotonic: Int64) = (0, 0)
        /// What `sleep` answers.
        var sleepAnswer = BG_OK
        var runs: [bg_run: TestRun] = [:]
    }

    let state = Mutex(State())
    /// Comes with the first fetch.
    let fetchBegan = Signal<FetchCall>()
    /// Comes with the first line of the log.
    let logged = Signal<Log>()
    let fetchCancelled = Signal<bg_fetch>()
    /// Comes with the first sleep.
    let sleepBegan = Signal<SleepCall>()
    let woken = Signal<bg_sleep>()
    /// Called as a fetch begins, on the stack of the call, for events that overtake it.
    let onFetch = Mutex<(@Sendable (FetchCall) -> Void)?>(nil)
    /// How a transfer ends, in the JSON of the ABI; `nil` is that it goes on without the run.
    let onTransfer = Mutex<(@Sendable (TransferCall) -> String?)?>(nil)
    let extensions: Set<String>
    private let ownTable = Table()
    private let numbers = Atomic<UInt64>(0)

    init(extensions: Set<String> = [BG_EXT_SCHEDULE, BG_EXT_FETCH, BG_EXT_STATUS]) {
        self.extensions = extensions
        fill(ownTable.pointer)
    }

    /// The host as plugins see it; it keeps this object alive for ever.
    var table: UnsafeMutablePointer<bg_host> { ownTable.pointer }
    var opaque: UnsafeRawPointer { UnsafeRawPointer(table) }
    var logs: [Log] { state.withLock { $0.logs } }

    func add(_ run: TestRun) { state.withLock { $0.runs[run.number] = run } }

    /// A new number for a fetch or a sleep; the first one is 1.
    func nextNumber() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }

    private func run(_ number: bg_run) -> TestRun? { state.withLock { $0.runs[number] } }

    // MARK: What plugins call

    var time: (unix: Int64, monotonic: Int64) { state.withLock { $0.time } }

    func complete(_ run: bg_run, _ end: Ending) -> bg_status {
        self.run(run)?.complete(end) ?? BG_E_STALE
    }

    func cancelled(_ run: bg_run) -> bg_status { self.run(run)?.why ?? BG_E_STALE }

    func setState(_ run: bg_run, _ state: UnsafeMutableRawPointer?) -> bg_status {
        guard let run = self.run(run) else { return BG_E_STALE }
        run.setState(state)
        return BG_OK
    }

    func progress(_ progress: Progress) -> bg_status {
        state.withLock { $0.progress.append(progress) }
        return BG_OK
    }

    func log(_ line: Log) -> bg_status {
        state.withLock { $0.logs.append(line) }
        logged.send(line)
        return BG_OK
    }

    func submit(_ request: Submission) -> bg_status {
        state.withLock { state in
            state.submissions.append(request)
            return state.answer
        }
    }

    func cancelPending(_ identifier: String) -> bg_status {
        state.withLock { state in
            state.cancelled.append(identifier)
            return state.answer
        }
    }

    func pending() -> (status: bg_status, requests: [bg_pending]) {
        state.withLock { ($0.answer, $0.pending) }
    }

    func refreshStatus() -> (status: bg_status, refresh: bg_refresh) {
        state.withLock { ($0.answer, $0.refresh) }
    }

    func missed() -> (status: bg_status, missed: bg_missed) {
        state.withLock { ($0.answer, $0.missed) }
    }

    func beginFetch(_ fetch: FetchCall) -> bg_status {
        let answer = state.withLock { state in
            if state.fetchAnswer == BG_OK { state.fetches.append(fetch) }
            return state.fetchAnswer
        }
        guard answer == BG_OK else { return answer }
        onFetch.withLock { $0 }?(fetch)
        fetchBegan.send(fetch)
        return BG_OK
    }

    func cancelFetch(_ number: bg_fetch) -> bg_status {
        fetchCancelled.send(number)
        return BG_OK
    }

    /// Starts a transfer, and returns its id.
    func beginTransfer(_ transfer: TransferCall) -> String {
        state.withLock { state in
            state.transfers.append(transfer)
            return "\(state.transfers.count - 1)"
        }
    }

    func waitForTransfer(_ wait: TransferWaitCall) -> bg_status {
        let transfer = state.withLock { state in Int(wait.id).map { state.transfers[$0] } }
        let end = transfer.flatMap { transfer in onTransfer.withLock { $0 }?(transfer) }
        // Nothing of the plugin may be called before this has returned.
        Task.detached { wait.end(end) }
        return BG_OK
    }

    func post(body: String) -> bg_status {
        state.withLock { state in
            if state.postAnswer == BG_OK { state.notifications.append(Notification(body: body)) }
            return state.postAnswer
        }
    }

    func sleep(_ sleep: SleepCall) -> bg_status {
        let answer = state.withLock { $0.sleepAnswer }
        if answer == BG_OK { sleepBegan.send(sleep) }
        return answer
    }

    func wake(_ number: bg_sleep) -> bg_status {
        woken.send(number)
        return BG_OK
    }
}

/// Copies text of a plugin.
func text(_ text: bg_str) -> String { String(copying: text) }
