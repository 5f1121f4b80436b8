// SPDX-License-Identifier: Apache-2.0

import BghostPlugin
import BghostWire
import CBghost
import CBghostSystem
import Dispatch
import Glibc
import Synchronization

/// A plugin that is compiled into the test, on a runtime whose clock the test has.
///
/// Its handler does nothing: the test calls the host in its place.
final class CompiledPlugin: RuntimeEventSink, RuntimeClock {
    struct Log {
        var completed: [UInt64] = []
        var errors: [HandlerError?] = []
        var released: [UInt64] = []
        var phases: [String] = []
        var logs = 0
        /// The runs of which a line or a step came after their release.
        var reportedLate: [UInt64] = []
        var sleeps: [UInt64] = []
        var woken: [UInt64] = []
        /// Whether `sleep` accepts.
        var maySleep = true
        /// Whether `call` accepts.
        var mayCall = false
        var calls: [Call.Operation] = []
        /// The number of the last call.
        var lastCall: UInt64 = 0
    }

    let log = Mutex(Log())

    /// Loads the plugin and starts its run.
    ///
    /// - Parameter hasClock: whether the host has a clock of its own.
    static func started(hasClock: Bool = true) throws -> (CompiledPlugin, PluginRuntime) {
        let plugin = CompiledPlugin()
        let runtime = plugin.runtime(hasClock: hasClock)
        try runtime.load(
            try PluginLoader.descriptor(of: table(handlers: ["a"]), in: "this test"),
            as: "this test"
        )
        guard runtime.start(plugin.order(number: 1)) else { throw NotStarted() }
        return (plugin, runtime)
    }

    struct NotStarted: Error {}

    /// The number of the first run.
    static let run: UInt64 = 1 << RunSlotNumber.bits

    func runtime(hasClock: Bool = true) -> PluginRuntime {
        var options = PluginRuntime.Options(
            slotCount: 2,
            threadsForBlocking: false,
            isWorker: true,
            dataDirectory: "/tmp",
            config: "{}",
            hostVersion: "test"
        )
        if hasClock { options.clock = self }
        return PluginRuntime(options: options, events: self)
    }

    func order(number: UInt64, slot: UInt64 = 0) -> Start {
        Start(
            run: number << RunSlotNumber.bits | slot,
            handler: 0,
            attempt: 1,
            deadline: .max,
            graceMilliseconds: 1000,
            resultBytesMax: 1024,
            task: "a",
            parameters: "{}"
        )
    }

    /// A table that is never freed.
    ///
    /// - Parameter opens: whether open() succeeds.
    static func table(handlers: [String], opens: Bool = true) -> UnsafeRawPointer {
        let tasks = UnsafeMutablePointer<UnsafePointer<bg_task>?>.allocate(capacity: handlers.count)
        for (index, name) in handlers.enumerated() {
            var task = bg_task()
            task.size = UInt32(MemoryLayout<bg_task>.size)
            task.handler = text(name)
            task.start = { _, _ in BG_PENDING }
            task.cancel = { _, _, _, _ in }
            let place = UnsafeMutablePointer<bg_task>.allocate(capacity: 1)
            place.initialize(to: task)
            (tasks + index).initialize(to: UnsafePointer(place))
        }
        var plugin = bg_plugin()
        plugin.size = UInt32(MemoryLayout<bg_plugin>.size)
        plugin.abi_major = UInt16(BG_ABI_MAJOR)
        plugin.id = text("org.example.compiled")
        plugin.n_tasks = UInt32(handlers.count)
        plugin.tasks = UnsafePointer(tasks)
        if !opens { plugin.open = { _, _, _ in BG_E_FAILED } }
        let place = UnsafeMutablePointer<bg_plugin>.allocate(capacity: 1)
        place.initialize(to: plugin)
        return UnsafeRawPointer(place)
    }

    private static func text(_ text: String) -> bg_str {
        bg_str(ptr: UnsafePointer(strdup(text)), len: text.utf8.count)
    }

    // MARK: What the runtime tells

    func completed(_ completion: RunCompletion, mayWait: Bool) {
        log.withLock { log in
            log.completed.append(completion.run)
            log.errors.append(completion.error)
            if completion.isReleased { log.released.append(completion.run) }
        }
    }

    func released(_ run: UInt64) { log.withLock { $0.released.append(run) } }

    func progress(run: UInt64, done: UInt64, total: UInt64, phase: UnsafeRawBufferPointer) {
        let phase = String(decoding: phase, as: UTF8.self)
        log.withLock { log in
            log.phases.append(phase)
            if log.released.contains(run) { log.reportedLate.append(run) }
        }
    }

    func log(run: UInt64, level: UInt8, dropped: UInt32, text: UnsafeRawBufferPointer) {
        log.withLock { log in
            log.logs += 1
            if log.released.contains(run) { log.reportedLate.append(run) }
        }
    }

    func call(_ number: UInt64, run: UInt64, _ operation: Call.Operation) -> Bool {
        log.withLock { log in
            if log.mayCall { (log.calls, log.lastCall) = (log.calls + [operation], number) }
            return log.mayCall
        }
    }

    // MARK: The clock

    var now: (unix: Int64, monotonic: Int64) { (5, 7) }

    func sleep(_ number: UInt64, run: UInt64, until: Int64) -> Bool {
        log.withLock { log in
            if log.maySleep { log.sleeps.append(number) }
            return log.maySleep
        }
    }

    func wake(_ number: UInt64) { log.withLock { $0.woken.append(number) } }
}

/// The ends of sleeps, and the threads on which they came.
final class SleepEnds: Sendable {
    struct End: Equatable, Sendable {
        var number: bg_sleep
        var status: bg_status
        /// The kernel's id.
        var thread: Int32
    }

    private let all = Mutex<[End]>([])

    var list: [End] { all.withLock { $0 } }
    var statuses: [bg_status] { list.map(\.status) }

    /// Waits until there are so many.
    func wait(for count: Int) async { while list.count < count { await Task.yield() } }

    /// Begins a sleep of a run; 0 stands for no number.
    func sleep(_ host: UnsafePointer<bg_host>, _ run: UInt64) -> (bg_status, number: bg_sleep) {
        guard let clock = Self.clock(of: host) else { return (BG_E_ABSENT, 0) }
        var number: bg_sleep = 0
        let status = clock.sleep(
            host,
            run,
            9,
            { context, number, status in
                guard let context else { return }
                let ends = Unmanaged<SleepEnds>.fromOpaque(context).takeUnretainedValue()
                let end = End(number: number, status: status, thread: bgs_thread_id())
                ends.all.withLock { $0.append(end) }
            },
            // Kept for ever: an end that comes twice is to be seen.
            Unmanaged.passRetained(self).toOpaque(),
            &number
        )
        return (status, number)
    }

    static func clock(of host: UnsafePointer<bg_host>) -> bg_clock? {
        host.pointee.extension(host, BG_EXT_CLOCK)?.load(as: bg_clock.self)
    }
}

/// The ends of transfers that a run waits for, each of which can be held back.
final class TransferEnds: Sendable {
    private let all = Mutex<[bg_status]>([])
    private let begun = DispatchSemaphore(value: 0)
    private let mayReturn = DispatchSemaphore(value: 0)

    var statuses: [bg_status] { all.withLock { $0 } }

    /// Waits until the plugin is being told of an end.
    func untilTold() { begun.wait() }

    /// Lets the plugin return from being told.
    func letReturn() { mayReturn.signal() }

    /// Waits for the end of a transfer in the name of a run.
    func wait(_ host: UnsafePointer<bg_host>, _ run: UInt64) -> bg_status {
        let table = host.pointee.extension(host, BG_EXT_TRANSFER)?.load(as: bg_transfers.self)
        guard let wait = table?.wait else { return BG_E_ABSENT }
        var transfer = bg_transfer()
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
        withUnsafeMutableBytes(of: &transfer.id) { $0.copyBytes(from: id.utf8) }
        return wait(
            host,
            run,
            &transfer,
            { context, end in
                guard let context, let end else { return }
                let ends = Unmanaged<TransferEnds>.fromOpaque(context).takeUnretainedValue()
                ends.all.withLock { $0.append(end.pointee.status) }
                ends.begun.signal()
                ends.mayReturn.wait()
            },
            // Kept for ever: an end that comes twice is to be seen.
            Unmanaged.passRetained(self).toOpaque()
        )
    }
}
