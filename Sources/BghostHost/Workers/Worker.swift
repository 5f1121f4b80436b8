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
    private var controlQueue: [(bytes: [UInt8], descriptor: Int32)] = []
    private var controlQueueBytes = 0
    private(set) var isControlBlocked = false
    /// Wants `flush` at the end of the turn.
    var isDirty = false
    /// It closed its socket; if its process does not end within a moment, it is killed.
    var hasHungUp = false
    /// When it last came to have no run.
    var idleSince: UInt64 = 0
    /// When its tree is counted next; `.max` is never.
    var audit: UInt64 = .max
    var outputLines = LineSplitter()
    var errorLines = LineSplitter()
    /// The run that had the worker last: what is printed after its end is still its own.
    var lastRun: RunID?
    var lastTask: String?
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

    deinit {
        for item in controlQueue where item.descriptor >= 0 { close(item.descriptor) }
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
        var reply = reply
        var descriptor: Int32 = -1
        if case .fetched(let http, let headers, let message, .inline(let bytes)) = reply.body,
            bytes.count > Reply.inlineBodyBytesMax
        {
            do {
                descriptor = try MemoryFile.sealed(name: "bghost-fetch", bytes)
                reply.body = .fetched(
                    httpStatus: http,
                    headers: headers,
                    message: message,
                    body: .descriptor(bytes: UInt64(bytes.count))
                )
            } catch {
                reply.status = -14
                reply.body = .fetched(
                    httpStatus: 0,
                    headers: "",
                    message: "\(error)",
                    body: .inline([])
                )
            }
        }
        sendControl(descriptor: descriptor) { reply.write(to: &$0) }
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
        _ write: (inout PacketWriter) -> Bool
    ) {
        var packets = PacketWriter()
        guard write(&packets) else {
            if descriptor >= 0 { close(descriptor) }
            return
        }
        controlQueue.append((packets.bytes, descriptor))
        controlQueueBytes += packets.count
        flushControl()
    }

    /// Sends what waits for the control socket.
    func flushControl() {
        var sent = 0
        for item in controlQueue {
            let error = item.bytes.withUnsafeBytes {
                item.descriptor < 0
                    ? PacketSocket.send(control.raw, $0, wait: false)
                    : PacketSocket.send(control.raw, $0, descriptor: item.descriptor)
            }
            // A broken socket is noticed by the end of the process, and nothing is owed to it.
            guard error != EAGAIN else { break }
            if item.descriptor >= 0 { close(item.descriptor) }
            controlQueueBytes -= item.bytes.count
            sent += 1
        }
        controlQueue.removeFirst(sent)
        isControlBlocked = !controlQueue.isEmpty
    }

    /// Whether more waits for it than a worker that reads would let pile up.
    var isStuck: Bool { controlQueueBytes > HostLimits.queueBytesMax }

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
