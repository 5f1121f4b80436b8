// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostTransferBridge
internal import BghostWire
internal import Glibc

/// A worker process and the host's ends of its sockets and pipes.
///
/// The host trusts nothing that it sends after it has loaded its plugin.
final class Worker: RunExecutor {
    /// The descriptor of a worker that an event concerns.
    enum Channel: UInt64, CaseIterable {
        case work = 0
        case control = 1
        case end = 2
        case output = 3
        case error = 4

        /// Whether the reactor handles the channel first.
        ///
        /// It handles output before frames, so that the output that a handler printed before it
        /// completed is attributed to its run.
        var isUrgent: Bool { self == .output || self == .error }
    }

    struct Crash {
        let signal: Int32
        let report: CrashReport
    }

    let slots: ExecutorSlots
    let work: Descriptor
    let control: Descriptor
    let output: Descriptor
    let error: Descriptor
    var process: ChildProcess?
    /// When its start began.
    var startedAt: MonotonicInstant = .zero
    var cpuTimer: CPUTimer?
    var group: String?
    var outbox = PacketWriter()
    /// The bytes of the outbox that are counted as held memory of the plugin.
    private var heldOfOutbox = 0
    private let memory: HeldBytes
    private var controlQueue = ReplyQueue()
    /// Limits the rate of log lines and progress.
    var reportRate = ReportRateLimiter()
    /// Whether `flush` is due at the end of the turn.
    var isDirty = false
    /// When it closed its socket; it is killed if its process does not exit soon afterwards.
    var hungUpAt: MonotonicInstant?
    /// When it last became idle.
    var idleSince: MonotonicInstant = .zero
    /// The time of the next audit; `never` if none is armed.
    var audit: MonotonicInstant = .never
    /// Its resource use while it had no run.
    var idleUse = IdleBudget(now: .zero)
    /// Its processor time at the end of the last run, if that was measured.
    var cpuAtEnd: Int64?
    /// Its processor time at the start of the newest run, with that of its child processes.
    var cpuAtBegin: Int64 = 0
    /// Whether it may have started processes, as far as the host knows.
    var canHaveProcesses = true
    /// Whether another thread is measuring its process tree.
    var isTreeBeingMeasured = false
    /// The earliest time of the next measurement of its process tree.
    var nextTreeMeasurement: MonotonicInstant = .zero
    /// Measured processor time of its child processes, in nanoseconds.
    var childrenCPU: Int64 = 0
    /// Processor time that is already divided among its runs, if it has several slots.
    var cpuDivided: Int64 = 0
    /// Runs whose start is in the outbox and may not have been sent.
    var unsentStarts: [UInt64] = []
    var outputLines = LineSplitter(bytesMax: HostLimits.outputLineBytesMax)
    var errorLines = LineSplitter(bytesMax: HostLimits.outputLineBytesMax)
    /// The last lines of the newest run on stderr.
    private var lastErrorLines: [String] = []
    /// How many reports it sent, of its crash or of its stacks.
    var reports = 0
    /// The crash that it reported.
    var crash: Crash?
    /// When it is killed even without a report of its stacks; `.max` if it was not asked for one.
    var explainAt: MonotonicInstant = .never
    /// Whether it has printed anything.
    var hasPrinted = false
    /// The newest run of the worker; later output is attributed to it.
    var lastRun: RunID?
    var lastTask: String?
    /// Whether it has reported its sandbox.
    var isConfined = false
    /// Why the host killed it, for the log.
    var killedFor: String?
    /// Whether its kill was sent.
    var isKilled = false

    init(
        serial: UInt32,
        plugin: PluginSlot,
        slotCount: Int,
        work: Int32,
        control: Int32,
        output: Int32,
        error: Int32
    ) {
        self.work = Descriptor(owning: work)
        self.control = Descriptor(owning: control)
        self.output = Descriptor(owning: output)
        self.error = Descriptor(owning: error)
        memory = plugin.memory
        slots = ExecutorSlots(serial: serial, plugin: plugin, slotCount: slotCount)
    }

    deinit { memory.release(heldOfOutbox) }

    var isProcess: Bool { true }

    var pid: Int32? { process?.pid }

    func token(_ channel: Channel) -> UInt64 {
        (channel.isUrgent ? 1 << 63 : 0) | UInt64(serial) << 3 | channel.rawValue
    }

    func descriptor(_ channel: Channel) -> Int32? {
        switch channel {
        case .work: work.raw
        case .control: control.raw
        case .end: process?.pidfd
        case .output: output.raw
        case .error: error.raw
        }
    }

    func start(_ start: Start) -> Bool {
        unsentStarts.append(start.run)
        return start.write(to: &outbox)
    }

    /// Whether the start of a run was not sent yet, so that no valid frame can refer to it.
    func isStartUnsent(_ run: UInt64) -> Bool { isDirty && unsentStarts.contains(run) }

    func cancel(_ cancel: Cancel) {
        sendUrgent { cancel.write(to: &$0) }
    }

    /// Sends a frame on the control socket before all waiting replies.
    private func sendUrgent(_ write: (inout PacketWriter) -> Bool) {
        var packets = PacketWriter()
        guard write(&packets), !sendNow(packets.bytes) else { return }
        controlQueue.addUrgent(packets.bytes, share: HeldShare(of: plugin.memory))
    }

    /// Requests the stacks of its threads.
    func explain() {
        sendUrgent { Explain().write(to: &$0) }
    }

    /// Texts that runtimes print before they abort a process.
    private static let fatalWords = [
        "Fatal error", "panicked at", "terminate called", "Assertion", "panic:", "fatal error",
        "*** stack smashing", "corrupted", "double free", "AddressSanitizer",
    ]

    /// Keeps a line of stderr, in case the worker crashes.
    func noteErrorLine(_ line: String) {
        guard !line.isEmpty else { return }
        // Keep many lines: a runtime may print a long stack after its message.
        if lastErrorLines.count == 96 { lastErrorLines.removeFirst() }
        lastErrorLines.append(String(decoding: line.utf8.prefix(512), as: UTF8.self))
    }

    /// Forgets the lines that were printed before the current run.
    func forgetErrorLines() {
        if !lastErrorLines.isEmpty { lastErrorLines = [] }
    }

    /// The last line on stderr that reports a fatal error, else the last line, or "".
    var fatalLine: String {
        let fatal = lastErrorLines.last { line in Self.fatalWords.contains { line.contains($0) } }
        return fatal ?? lastErrorLines.last ?? ""
    }

    func reply(_ reply: Reply, holding share: HeldShare?) {
        var reply = reply
        let share = share ?? HeldShare(of: plugin.memory)
        guard let body = reply.takeLongBody(reserving: share.reserve) else {
            return send(reply.refusal(CallStatus.limit), behind: [], share)
        }
        send(reply, behind: body, share)
    }

    /// Sends a reply on the control socket after all waiting replies.
    private func send(_ reply: Reply, behind body: [UInt8], _ share: HeldShare) {
        var packets = PacketWriter()
        guard reply.write(to: &packets) else {
            // Send a refusal instead, so that the caller does not wait forever.
            let refusal = reply.refusal(CallStatus.limit)
            if reply != refusal { send(refusal, behind: [], share) }
            return
        }
        guard !body.isEmpty || !sendNow(packets.bytes) else { return }
        controlQueue.add(packets.bytes, of: reply.call, behind: body, share: share)
        flushControl()
    }

    /// Sends a frame on the control socket if there is room and no other frame waits.
    private func sendNow(_ frame: [UInt8]) -> Bool {
        guard controlQueue.isEmpty else { return false }
        return frame.withUnsafeBytes {
            PacketSocket.send(control.raw, $0, wait: false)
        } != EAGAIN
    }

    /// Sends the frames in the outbox on the work socket.
    ///
    /// - Returns: `false` if the socket is broken or the worker does not read.
    func flush() -> Bool {
        var isBroken = false
        let isEmpty = outbox.drain { packet in
            let error = PacketSocket.send(work.raw, packet, wait: false)
            if error != 0, error != EAGAIN { isBroken = true }
            return error == 0
        }
        if isEmpty { unsentStarts.removeAll(keepingCapacity: true) }
        if outbox.count != heldOfOutbox {
            memory.add(outbox.count - heldOfOutbox)
            heldOfOutbox = outbox.count
        }
        return !isBroken && (isEmpty || outbox.count <= HostLimits.queueBytesMax)
    }

    /// Sends the frames that wait for the control socket.
    func flushControl() {
        let socket = control.raw
        controlQueue.flush { PacketSocket.send(socket, $0, wait: false) }
    }

    var isControlBlocked: Bool { !controlQueue.isEmpty }

    /// Whether more bytes wait for the control socket than a worker that reads would leave unread.
    var isStuck: Bool { controlQueue.frameBytes > HostLimits.queueBytesMax }

    // The process ID stays valid while the state is not `gone`: the process is reaped only after that.
    func pin(to core: ProcessorSet, from everywhere: ProcessorSet) -> Bool {
        guard state == .live, let pid else { return false }
        return everywhere.give(threadsOf: pid, to: core, limit: Placement.threadsMax)
    }

    func unpin(from core: ProcessorSet, to everywhere: ProcessorSet) {
        guard state != .gone, let pid else { return }
        core.give(threadsOf: pid, to: everywhere)
    }
}
