// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BackgroundTasks
internal import CBghost
internal import FoundationEssentials
internal import Synchronization

/// Carries out the engine's actions: calls the plugin, waits until its runs wait, and advances
/// time.
final class Driver: Sendable {
    typealias Responder = @Sendable (FetchRequest) throws -> FetchResponse?

    let core: HostCore
    /// How long to wait for a run, in real time.
    let patience: Duration
    private let responder = Mutex<Responder?>(nil)
    private let host: CHost
    private let plugin: OpenPlugin
    private let directory: String
    /// The thread that cancels runs, so that a cancellation arrives while a handler blocks its own
    /// thread.
    private let control = WorkThread()
    private let lock = AsyncLock()

    init(
        _ core: HostCore,
        _ host: CHost,
        _ plugin: OpenPlugin,
        directory: String,
        patience: Duration
    ) {
        self.core = core
        self.host = host
        self.plugin = plugin
        self.directory = directory
        self.patience = patience
    }

    /// Runs the body while no other task drives the host.
    func exclusively<Answer: Sendable>(
        _ body: () async throws -> Answer
    ) async throws -> Answer {
        await lock.acquire()
        defer { lock.release() }
        return try await body()
    }

    /// Answers every fetch by a function, including those that already wait.
    func answerAll(_ answer: @escaping Responder) {
        responder.withLock { $0 = answer }
        core.change { $0.askAgain() }
    }

    // MARK: Settling

    /// Carries out all actions, until every run waits for the clock or an answer, or has ended.
    ///
    /// - Parameters:
    ///   - lenient: a run that does not cause an error when it exceeds the patience.
    ///   - isQuietEnough: whether that run may also wait for something other than the clock or an
    ///     answer.
    func settle(lenient: UInt64? = nil, isQuietEnough: Bool = false) async throws {
        var deadline = ContinuousClock.now + patience
        var begun = 0
        while true {
            let count = core.events.count
            let hasResponder = responder.withLock { $0 != nil }
            let step = core.read {
                $0.nextStep(hasResponder: hasResponder, restless: isQuietEnough ? lenient : nil)
            }
            switch step {
            case .settled: return
            case .perform(let action):
                perform(action)
                if case .start = action { begun += 1 }
                try checkProgress(begun)
                deadline = ContinuousClock.now + patience
            case .ask(let fetch):
                ask(fetch)
                deadline = ContinuousClock.now + patience
            case .askOfTransfer(let transfer):
                ask(transfer)
                deadline = ContinuousClock.now + patience
            case .wait(let run):
                if try await core.events.wait(after: count, until: deadline) { continue }
                try timedOut(with: run, isLenient: run == lenient)
                deadline = ContinuousClock.now + patience
            }
        }
    }

    private func timedOut(with run: UInt64, isLenient: Bool) throws {
        // The run may be waiting for its cancellation.
        if let cancel = core.read({ $0.takeCancel(of: run) }) { return perform(cancel) }
        let (handler, task) = core.read { engine in
            if isLenient { engine.runs[run]?.isGivenUp = true }
            guard let run = engine.runs[run] else { return ("", "") }
            let past = engine.history[run.place]
            return (past.handler, past.record.task)
        }
        guard !isLenient, !handler.isEmpty else { return }
        throw TestHostError(
            .stuck,
            "handler `\(handler)` (of task \(task)) has waited for \(patience) of real time for"
                + " something that is neither the host's clock nor an answer to a fetch, or it"
                + " computes all the time: sleep by `context.sleep(for:)`, or make the host with"
                + " more `patience`"
        )
    }

    /// Stops a task that submits itself again and again at once, so that time could never advance.
    private func checkProgress(_ begun: Int) throws {
        guard begun > Self.runsAtOnceMax else { return }
        let task = core.read { $0.history.last?.record.task ?? "" }
        throw TestHostError(
            .endless,
            "\(Self.runsAtOnceMax) runs have begun at one moment, the last of task \(task): does it"
                + " submit itself again without an earliestBeginDate?"
        )
    }

    private static var runsAtOnceMax: Int { 1000 }

    private func perform(_ action: Engine.Action) {
        switch action {
        case .start(let run): start(run)
        case .cancel(let run, let reason): cancel(run, reason)
        case .endSleep(let sleep, let isOver): sleep.end(isOver ? BG_OK : BG_E_CANCELLED)
        case .endFetch(let fetch, let end): fetch.end(end)
        case .endWait(let wait, let transfer): wait.end(transfer)
        }
    }

    private func start(_ number: UInt64) {
        let thread = RunThread(number, core)
        let memory = core.read { engine -> RunMemory? in
            guard let run = engine.runs[number],
                let task = task(named: engine.history[run.place].handler)
            else { return nil }
            let memory = RunMemory(number, of: task, engine.setting(of: run, directory: directory))
            engine.runs[number]?.memory = memory
            engine.runs[number]?.thread = thread
            return memory
        }
        guard let memory else { return }
        thread.perform { [core, plugin] in
            let status = plugin.start(memory)
            core.change { $0.started(number, status) }
        }
    }

    private func task(named name: String) -> UnsafePointer<bg_task>? {
        plugin.tasks.first { String(copying: $0.pointee.handler) == name }
    }

    private func cancel(_ number: UInt64, _ reason: BghostModel.StopReason) {
        let (memory, state) = core.read { ($0.runs[number]?.memory, $0.runs[number]?.state ?? 0) }
        guard let memory else { return }
        core.became(busy: number)
        control.perform { [core, plugin] in
            let state = UnsafeMutableRawPointer(bitPattern: state)
            plugin.cancel(memory, state: state, why: reason.rawValue)
            core.became(idle: number)
        }
    }

    private func ask(_ fetch: FetchCall) {
        guard let respond = responder.withLock({ $0 }), let request = FetchRequest(fetch) else {
            return
        }
        guard let end = Self.end(respond, request) else { return }
        _ = core.change { $0.answer(fetch.number, end) }
    }

    private func ask(_ transfer: OpenTransfer) {
        guard let respond = responder.withLock({ $0 }),
            let request = FetchRequest(transfer.call),
            let end = Self.end(respond, request)
        else { return }
        _ = core.end(transfer.id, end, directory: directory)
    }

    private static func end(_ respond: Responder, _ request: FetchRequest) -> FetchEnd? {
        do {
            return try respond(request).map(FetchEnd.init)
        } catch let error as FetchError {
            return FetchEnd(error)
        } catch {
            return .failed(BG_E_FAILED, "\(error)")
        }
    }

    /// Ends a transfer with the test's answer.
    ///
    /// - Returns: `false` if the transfer has already ended.
    func end(_ id: String, _ end: FetchEnd) -> Bool { core.end(id, end, directory: directory) }

    // MARK: Time

    /// Advances time, and carries out all events on the way.
    func advance(by nanoseconds: UInt64) async throws {
        try await settle()
        let end = core.read { $0.now.monotonic.addingClamped(nanoseconds) }
        while core.read({ $0.step(until: end) }) { try await settle() }
        core.read { $0.move(to: end) }
    }

    /// Expires a run, and advances time until it has ended, at most by its grace.
    func expire(_ number: UInt64) async throws {
        try await settle(lenient: number, isQuietEnough: true)
        core.read { $0.expire(number) }
        // Cancel at once, even if the run computes: it may be waiting for that.
        if let cancel = core.read({ $0.takeCancel(of: number) }) { perform(cancel) }
        try await settle(lenient: number)
        while let limit = core.read({ $0.runs[number]?.limit }) {
            guard core.read({ $0.step(until: limit) }) else { return }
            try await settle(lenient: number)
        }
    }

    // MARK: The end

    /// Cancels the runs in progress, and closes the plugin.
    func close() {
        let (live, ends) = core.read { engine in
            // This breaks the cycle of references between the runs and the core.
            defer { engine.runs = [:] }
            return (Array(engine.runs.values), engine.takeEnds())
        }
        let isLeft = live.isEmpty && core.read { $0.abandoned.isEmpty }
        control.perform { [self] in
            for run in live {
                guard let memory = run.memory else { continue }
                let state = UnsafeMutableRawPointer(bitPattern: run.state)
                plugin.cancel(memory, state: state, why: UInt32(BG_WHY_DRAIN))
            }
            // End their calls, since the host will not answer them.
            for end in ends { perform(end) }
            host.close()
            // Close the plugin only if no handler still uses it.
            if isLeft { plugin.close() }
        }
        control.end()
    }
}
