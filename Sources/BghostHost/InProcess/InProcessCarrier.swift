// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostPlugin
internal import BghostWire
internal import Synchronization

/// A plugin inside the daemon, with the same runtime that a worker has.
///
/// What it does not give: a crash in it is the daemon's, what it uses cannot be limited, and a run of
/// it that does not stop can be left behind, not killed.
final class InProcessCarrier: Carrier {
    let voice: InProcessVoice
    let runtime: PluginRuntime
    /// Handlers begin here and, unless they may block, run here up to their first wait.
    let starts = WorkThread()
    /// Cancels and answers come from here, so that they arrive while a handler has the other thread.
    let control = WorkThread()

    init(
        serial: UInt32,
        plugin: PluginSlot,
        lanes: Int,
        config: String,
        hostVersion: String,
        voice: InProcessVoice
    ) {
        self.voice = voice
        runtime = PluginRuntime(
            options: PluginRuntime.Options(
                lanes: lanes,
                threadsForBlocking: true,
                isWorker: false,
                dataDirectory: plugin.dataDirectory,
                config: config,
                hostVersion: hostVersion
            ),
            voice: voice
        )
        super.init(serial: serial, plugin: plugin, lanes: lanes)
    }

    override func start(_ start: Start) -> Bool {
        starts.perform { [runtime] in _ = runtime.start(start) }
        return true
    }

    override func cancel(_ cancel: Cancel) {
        control.perform { [runtime] in runtime.cancel(run: cancel.run, why: cancel.why) }
    }

    override func reply(_ reply: Reply) {
        control.perform { [runtime] in runtime.answer(reply.call, HostAnswer(reply)) }
    }

    // With the daemon's other threads it is let go of.
    override func keep(on core: ProcessorSet, insteadOf everywhere: ProcessorSet) -> Bool {
        core.take(thread: starts.id)
    }

    /// Its threads may be stuck in the plugin and are left to it.
    override func kill() {
        voice.silence()
        starts.end()
        control.end()
    }
}

extension HostAnswer {
    fileprivate init(_ reply: Reply) {
        switch reply.body {
        case .situation(let situation):
            self.init(status: reply.status, body: .situation(situation))
        case .pending(let entries):
            self.init(
                status: reply.status,
                body: .pending(entries.map { ($0.task, $0.kind, $0.earliestUnixMilliseconds) })
            )
        case .fetched(let http, let headers, let message, .inline(let bytes)):
            self.init(
                status: reply.status,
                body: .fetched(httpStatus: http, headers: headers, message: message, body: bytes)
            )
        case .transfer(let id): self.init(status: reply.status, body: .transfer(id: id))
        case .needs(let count): self.init(status: reply.status, body: .needs(count))
        case .transfers(.inline(let bytes)):
            self.init(status: reply.status, body: .transfers(bytes))
        case .none, .fetched, .transfers: self.init(status: reply.status)
        }
    }
}

/// Collects what a plugin in the daemon says, for the host to take on its own thread.
final class InProcessVoice: RuntimeVoice {
    enum Saying: Sendable {
        case completed(Completed)
        case released(UInt64)
        case progress(Progress)
        case log(LogLine)
        case call(Call)
    }

    private struct State {
        var sayings: [Saying] = []
        var isSilent = false
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: called on any thread when there is something to take and was nothing before.
    init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
    }

    /// All that has been said since the last time.
    func take() -> [Saying] {
        state.withLock { state in
            defer { state.sayings = [] }
            return state.sayings
        }
    }

    /// Drops whatever is said from now on.
    func silence() {
        state.withLock {
            $0.isSilent = true
            $0.sayings = []
        }
    }

    private func say(_ saying: Saying) {
        let isFirst = state.withLock { state in
            guard !state.isSilent else { return false }
            state.sayings.append(saying)
            return state.sayings.count == 1
        }
        if isFirst { wake() }
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        bytes.isEmpty ? "" : String(decoding: bytes, as: UTF8.self)
    }

    func completed(_ completion: RunCompletion, mayWait: Bool) {
        say(
            .completed(
                Completed(
                    run: completion.run,
                    status: completion.status,
                    retryAfterMilliseconds: completion.retryAfterMilliseconds,
                    message: Self.text(completion.message),
                    payload: Self.text(completion.payload),
                    isReleased: completion.isReleased
                )
            )
        )
    }

    func released(_ run: UInt64) { say(.released(run)) }

    func progress(run: UInt64, done: UInt64, total: UInt64, phase: UnsafeRawBufferPointer) {
        say(.progress(Progress(run: run, done: done, total: total, phase: Self.text(phase))))
    }

    func log(run: UInt64, level: UInt8, dropped: UInt32, text: UnsafeRawBufferPointer) {
        say(.log(LogLine(run: run, level: level, dropped: dropped, text: Self.text(text))))
    }

    func call(_ number: UInt64, run: UInt64, _ operation: Call.Operation) -> Bool {
        say(.call(Call(number: number, run: run, operation: operation)))
        return true
    }
}
