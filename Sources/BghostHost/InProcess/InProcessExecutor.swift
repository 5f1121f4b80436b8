// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostPlugin
internal import BghostWire
internal import Synchronization

/// A plugin inside the daemon, with the same runtime as in a worker.
///
/// There is no isolation: a crash of the plugin crashes the daemon, its resource use cannot be
/// limited, and a run that does not stop can only be abandoned, not killed.
final class InProcessExecutor: RunExecutor {
    let slots: ExecutorSlots
    let events: InProcessEvents
    let runtime: PluginRuntime
    /// Starts handlers; those that do not block also run here up to their first suspension.
    let starts = WorkThread()
    /// Delivers cancellations and replies, also while a handler occupies the other thread.
    let control = WorkThread()

    init(
        serial: UInt32,
        plugin: PluginSlot,
        slotCount: Int,
        config: String,
        hostVersion: String,
        events: InProcessEvents
    ) {
        self.events = events
        runtime = PluginRuntime(
            options: PluginRuntime.Options(
                slotCount: slotCount,
                threadsForBlocking: true,
                isWorker: false,
                dataDirectory: plugin.dataDirectory,
                config: config,
                hostVersion: hostVersion
            ),
            events: events
        )
        slots = ExecutorSlots(serial: serial, plugin: plugin, slotCount: slotCount)
    }

    func start(_ start: Start) -> Bool {
        starts.perform { [runtime, events] in
            if !runtime.start(start) { events.refused(start.run) }
        }
        return true
    }

    func cancel(_ cancel: Cancel) {
        control.perform { [runtime] in runtime.cancel(run: cancel.run, why: cancel.why) }
    }

    func reply(_ reply: Reply, holding share: HeldShare?) {
        control.perform { [runtime] in
            withExtendedLifetime(share) { runtime.answer(reply.call, HostAnswer(reply)) }
        }
    }

    var pid: Int32? { nil }

    var isProcess: Bool { false }

    // Calls are handed over at once, and the daemon's own threads are not measured.

    func isStartUnsent(_ run: UInt64) -> Bool { false }
    func mayReport(now: MonotonicInstant) -> Bool { true }
    func wasSent(_ run: RunRecord, _ pool: WorkerPool) {}
    func beginMeasuring(_ run: ActiveRun, now: MonotonicInstant) {}
    func measure(_ run: ActiveRun, now: MonotonicInstant) {}
    func sampleMemory() {}
    func wasReleased() {}
    func hasLeftProcesses(after lasted: Duration?) -> Bool { false }
    func becameIdle(_ pool: WorkerPool) {}
    func exceededOutput(_ pool: WorkerPool) {}
    func didReply(_ pool: WorkerPool) {}

    var newestRun: (id: RunID?, task: String?) { (nil, nil) }

    // MARK: Life

    func finish(_ pool: WorkerPool) { pool.closeInProcess(self) }

    func willKill(for reason: KillReason, _ pool: WorkerPool) -> Bool { false }

    func kill(_ pool: WorkerPool) {
        stop()
        pool.abandon(self)
    }

    // `WorkerPool.unpinAll` unpins this thread together with the daemon's other threads.
    func pin(to core: ProcessorSet, from everywhere: ProcessorSet) -> Bool {
        core.bind(thread: starts.id)
    }

    func unpin(from core: ProcessorSet, to everywhere: ProcessorSet) {}

    /// Stops the executor; threads that are blocked in the plugin cannot be ended and are abandoned.
    func stop() {
        events.stop()
        starts.end()
        control.end()
    }
}

extension HostAnswer {
    fileprivate init(_ reply: Reply) {
        switch reply.body {
        case .situation(let situation):
            self.init(status: reply.status, body: .situation(situation))
        case .pending(let entries, let next):
            self.init(status: reply.status, body: .pending(entries, next: next))
        case .fetched(let http, let headers, let message, .inline(let bytes)):
            self.init(
                status: reply.status,
                body: .fetched(httpStatus: http, headers: headers, message: message, body: bytes)
            )
        case .transfer(let id): self.init(status: reply.status, body: .transfer(id: id))
        case .needs(let count): self.init(status: reply.status, body: .needs(count))
        case .transfers(.inline(let bytes)):
            self.init(status: reply.status, body: .transfers(bytes))
        case .checkpoint(.inline(let bytes)):
            self.init(status: reply.status, body: .checkpoint(bytes))
        case .none, .fetched, .transfers, .checkpoint: self.init(status: reply.status)
        }
    }
}

/// Collects the events of a plugin in the daemon until the host takes them on its own thread.
final class InProcessEvents: RuntimeEventSink {
    enum Event: Sendable {
        case completed(Completed)
        case released(UInt64)
        case progress(Progress)
        case log(LogLine)
        case call(Call)
    }

    private struct State {
        var events: [Event] = []
        var isSilent = false
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void

    /// Creates an empty queue.
    ///
    /// - Parameter wake: called on any thread when the queue becomes non-empty.
    init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
    }

    /// Removes and returns all events since the last call.
    func take() -> [Event] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    /// Drops all waiting and future events.
    func stop() {
        state.withLock {
            $0.isSilent = true
            $0.events = []
        }
    }

    private func add(_ event: Event) {
        let isFirst = state.withLock { state in
            guard !state.isSilent else { return false }
            state.events.append(event)
            return state.events.count == 1
        }
        if isFirst { wake() }
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        bytes.isEmpty ? "" : String(decoding: bytes, as: UTF8.self)
    }

    func completed(_ completion: RunCompletion, mayWait: Bool) {
        add(
            .completed(
                Completed(
                    run: completion.run,
                    status: completion.status,
                    retryAfterMilliseconds: completion.retryAfterMilliseconds,
                    message: Self.text(completion.message),
                    payload: Self.text(completion.payload),
                    isReleased: completion.isReleased,
                    error: completion.error
                )
            )
        )
    }

    /// Ends a run that the runtime did not start: no plugin code has it that could end it.
    func refused(_ run: UInt64) {
        add(
            .completed(
                Completed(
                    run: run,
                    status: CallStatus.failed,
                    message: "the plugin's runtime refused to start the run",
                    isReleased: true
                )
            )
        )
    }

    func released(_ run: UInt64) { add(.released(run)) }

    func progress(run: UInt64, done: UInt64, total: UInt64, phase: UnsafeRawBufferPointer) {
        add(.progress(Progress(run: run, done: done, total: total, phase: Self.text(phase))))
    }

    func log(run: UInt64, level: UInt8, dropped: UInt32, text: UnsafeRawBufferPointer) {
        add(.log(LogLine(run: run, level: level, dropped: dropped, text: Self.text(text))))
    }

    func call(_ number: UInt64, run: UInt64, _ operation: Call.Operation) -> Bool {
        add(.call(Call(number: number, run: run, operation: operation)))
        return true
    }
}
