// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import BghostBase
internal import BghostModel
internal import BghostPlugin
internal import BghostWire
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
    private let link: HostLink
    private let runtime: PluginRuntime
    private let directory: String
    private let lock = AsyncLock()

    init(
        _ core: HostCore,
        _ link: HostLink,
        _ runtime: PluginRuntime,
        directory: String,
        patience: Duration
    ) {
        self.core = core
        self.link = link
        self.runtime = runtime
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
            case .noFreeSlot: throw tooManyKilledRuns()
            case .waitForRelease(let run):
                if try await core.events.wait(after: count, until: deadline) { continue }
                core.read { _ = $0.unreleasable.insert(run) }
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

    private func tooManyKilledRuns() -> TestHostError {
        let count = core.read { $0.runSlots.count }
        return TestHostError(
            .stuck,
            "no run can start: the handlers of \(count) killed runs still run, and the host has no"
                + " room for more; let them end, as `abandoned` shows"
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
        case .answer(let call, let answer):
            callBack(call.run) { runtime.answer(call.number, answer) }
        }
    }

    /// Makes the runtime call the plugin back on a thread of its own, and counts that as work of the
    /// run: so no time passes, and no other run starts, before what follows from it.
    private func callBack(_ run: UInt64, _ body: () -> Void) {
        let id = core.read { engine in
            let id = engine.runs[run]?.id
            if id != nil { engine.runs[run]?.busy += 1 }
            return id
        }
        body()
        guard let id else { return }
        runtime.afterCallbacks(of: id) { [core] in core.became(idle: run) }
    }

    private func start(_ number: UInt64) {
        let thread = RunThread(number, core)
        guard let start = core.read({ $0.start(number, on: thread) }) else { return }
        thread.perform { [core, runtime] in
            guard !runtime.start(start) else { return }
            core.change { engine in
                engine.completed(
                    Completed(
                        run: start.run,
                        status: BG_E_FAILED,
                        message: "the plugin's runtime refused to start the run",
                        isReleased: true
                    )
                )
            }
        }
    }

    private func cancel(_ number: UInt64, _ reason: BghostModel.StopReason) {
        guard let id = core.read({ $0.runs[number]?.id }) else { return }
        callBack(number) { runtime.cancel(run: id, why: reason.rawValue) }
    }

    private func ask(_ fetch: Engine.OpenFetch) {
        guard let respond = responder.withLock({ $0 }), let request = FetchRequest(fetch.request)
        else { return }
        guard let end = Self.end(respond, request) else { return }
        // The run may have ended, or cancelled the fetch, while the test answered.
        _ = core.change { $0.answer(fetch.call.number, end) }
    }

    private func ask(_ transfer: OpenTransfer) {
        guard let respond = responder.withLock({ $0 }),
            let request = FetchRequest(transfer.call),
            let end = Self.end(respond, request)
        else { return }
        // The handler may have cancelled the transfer while the test answered.
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
        let end = core.read { $0.now.monotonic + nanoseconds }
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

    /// Cancels the runs in progress, and closes the plugin once their handlers have ended.
    func close() {
        let (ids, ends) = core.read { engine in
            // This breaks the cycle of references between the runs and the core.
            defer { engine.runs = [:] }
            return (engine.runs.values.compactMap(\.id), engine.takeEnds())
        }
        for id in ids { runtime.cancel(run: id, why: UInt32(BG_WHY_DRAIN)) }
        // End their calls, since the host will not answer them.
        for end in ends { runtime.answer(end.call.number, end.answer) }
        link.end()
    }
}
