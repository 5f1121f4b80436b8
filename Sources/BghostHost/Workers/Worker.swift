// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostWire
internal import Glibc

/// A worker process and the host's ends of its sockets and pipes.
///
/// It is hostile from the moment at which it loads its plugin.
final class Worker: Carrier {
    /// Which of a worker's descriptors an event is about.
    enum Channel: UInt64, CaseIterable {
        case work = 0
        case control = 1
        case end = 2
        case output = 3
        case error = 4

        /// Output is looked at before frames, so that what a handler printed before it completed is
        /// known to be its own.
        var isUrgent: Bool { self == .output || self == .error }
    }

    let work: Descriptor
    let control: Descriptor
    let output: Descriptor
    let error: Descriptor
    var process: ChildProcess?
    var cpuTimer: CPUTimer?
    var group: String?
    var outbox = PacketWriter()
    private var controlQueue = ReplyQueue()
    /// Log lines and progress.
    var sayings = SayingRate()
    /// Wants `flush` at the end of the turn.
    var isDirty = false
    /// When it closed its socket; if its process does not end within a moment, it is killed.
    var hungUpAt: UInt64?
    /// When it last came to have no run.
    var idleSince: UInt64 = 0
    /// When its tree is counted next; `.max` is never.
    var audit: UInt64 = .max
    var outputLines = LineSplitter(bytesMax: HostLimits.outputLineBytesMax)
    var errorLines = LineSplitter(bytesMax: HostLimits.outputLineBytesMax)
    /// The run that had the worker last: what is printed after its end is still its own.
    var lastRun: RunID?
    var lastTask: String?
    /// Whether it has said which walls stand around it.
    var isConfined = false
    /// Why the host killed it, for the log.
    var killedFor: String?

    init(
        serial: UInt32,
        plugin: PluginSlot,
        lanes: Int,
        work: Int32,
        control: Int32,
        output: Int32,
        error: Int32
    ) {
        self.work = Descriptor(owning: work)
        self.control = Descriptor(owning: control)
        self.output = Descriptor(owning: output)
        self.error = Descriptor(owning: error)
        super.init(serial: serial, plugin: plugin, lanes: lanes)
    }

    override var isProcess: Bool { true }

    override var pid: Int32? { process?.pid }

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

    override func start(_ start: Start) -> Bool {
        start.write(to: &outbox)
    }

    override func cancel(_ cancel: Cancel) {
        sendControl { cancel.write(to: &$0) }
    }

    override func reply(_ reply: Reply) {
        switch reply.body {
        case .fetched(let http, let headers, let message, .inline(let bytes))
        where bytes.count > Reply.inlineBodyBytesMax:
            send(reply, asFile: "bghost-fetch", bytes) {
                .fetched(httpStatus: http, headers: headers, message: message, body: $0)
            }
        case .transfers(.inline(let bytes)) where bytes.count > Reply.inlineBodyBytesMax:
            send(reply, asFile: "bghost-transfers", bytes) { .transfers($0) }
        default: sendControl { reply.write(to: &$0) }
        }
    }

    /// Sends a reply whose body is too long for a frame, as a file in memory.
    private func send(
        _ reply: Reply,
        asFile name: String,
        _ bytes: [UInt8],
        _ body: (Reply.FetchedBody) -> Reply.Body
    ) {
        var refusal = Reply(call: reply.call, status: CallStatus.limit)
        if case .fetched = reply.body {
            refusal.body = .fetched(
                httpStatus: 0,
                headers: "",
                message: "bghost has no room for the answer now; try again",
                body: .inline([])
            )
        }
        do {
            let descriptor = try MemoryFile.sealed(name: name, bytes)
            var reply = reply
            reply.body = body(.descriptor(bytes: UInt64(bytes.count)))
            sendControl(descriptor: descriptor, instead: refusal) { reply.write(to: &$0) }
        } catch {
            sendControl { refusal.write(to: &$0) }
        }
    }

    /// Sends the collected frames of the work socket.
    ///
    /// `false` if the worker is beyond help.
    func flush() -> Bool {
        var isBroken = false
        let isEmpty = outbox.drain { packet in
            let error = PacketSocket.send(work.raw, packet, wait: false)
            if error != 0, error != EAGAIN { isBroken = true }
            return error == 0
        }
        return !isBroken && (isEmpty || outbox.count <= HostLimits.queueBytesMax)
    }

    /// Sends one frame on the control socket, behind those that wait there.
    private func sendControl(
        descriptor: Int32 = -1,
        instead refusal: Reply? = nil,
        _ write: (inout PacketWriter) -> Bool
    ) {
        var packets = PacketWriter()
        guard write(&packets) else {
            if descriptor >= 0 { close(descriptor) }
            return
        }
        var instead = PacketWriter()
        if let refusal { _ = refusal.write(to: &instead) }
        controlQueue.add(packets.bytes, descriptor: descriptor, instead: instead.bytes)
        flushControl()
    }

    /// Sends what waits for the control socket.
    func flushControl() {
        let socket = control.raw
        controlQueue.flush { bytes, descriptor in
            descriptor < 0
                ? PacketSocket.send(socket, bytes, wait: false)
                : PacketSocket.send(socket, bytes, descriptor: descriptor)
        }
    }

    var isControlBlocked: Bool { !controlQueue.isEmpty }

    /// Whether more waits for it than a worker that reads would let pile up.
    var isStuck: Bool { controlQueue.bytes > HostLimits.queueBytesMax }

    // Its number is its own as long as it has not been collected, which begins when it is gone.
    override func keep(on core: ProcessorSet, insteadOf everywhere: ProcessorSet) -> Bool {
        guard state == .live, let pid else { return false }
        return everywhere.give(threadsOf: pid, to: core, limit: Placement.threadsMax)
    }

    override func letGo(from core: ProcessorSet, to everywhere: ProcessorSet) {
        guard state != .gone, let pid else { return }
        core.give(threadsOf: pid, to: everywhere)
    }

    override func kill() {
        process?.kill()
    }
}
