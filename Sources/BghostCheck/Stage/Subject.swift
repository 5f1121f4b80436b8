// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostPlugin
internal import BghostWire
internal import CBghost
internal import CBghostSystem
internal import Glibc

/// A plugin under check, in the same runtime as in a worker.
///
/// Only the check's own thread uses it; calls that may not return run on other threads.
final class Subject {
    /// The behavior of its host.
    struct Behavior {
        var hostBehavior = HostBehavior.prompt
        var hasExtensions = true
        /// Whether the host has a later minor version, with more fields than this header.
        var isNewer = false
        var slotCount = 1
        var runGuard = RunGuard.none
        var guardsTable = false
        /// The duration of each host call, for the first `HostWatch.slowCallsMax` calls.
        var callMilliseconds: UInt32 = 0
        /// The thread that calls every start(), including those that may block; `nil` for one that
        /// never ends.
        var starter: Line?
        /// A JSON object for open(); `nil` for the one in the order.
        var config: String?
    }

    /// A run in progress.
    struct Begun {
        var run: UInt64
        var slotIndex: Int
        var at: MonotonicInstant
        /// Gets the number of the thread that calls start(), just before the call.
        var entered: WaitableEvent
        /// Gets the duration of start() in nanoseconds, on the thread that calls it; of a timed run,
        /// without the time in which the thread waited for a processor.
        var returned: WaitableEvent
    }

    /// The course of a run.
    struct Story {
        var run: UInt64
        /// `nil` if the run did not end although it was cancelled.
        var end: RunEnd?
        /// The time between the cancellation and the end, nanoseconds; `nil` if it was not
        /// cancelled.
        var stoppedAfter: UInt64?
        var wasStopped = false
    }

    let stage: Stage
    let runs: RunRecorder
    let runtime: PluginRuntime
    let table: UnsafeMutablePointer<bg_host>
    private let behavior: Behavior
    /// Shared by all subjects of the process, which exist one after the other.
    private static let lines = (starter: Line(), control: Line(), answers: Line())
    private var starter: Line { behavior.starter ?? Self.lines.starter }
    private var control: Line { Self.lines.control }
    private var serial: UInt64 = 0

    init(_ stage: Stage, _ behavior: Behavior) {
        self.stage = stage
        self.behavior = behavior
        runs = RunRecorder(behavior.hostBehavior, answers: Self.lines.answers)
        table = Self.page()
        var options = PluginRuntime.Options(
            slotCount: behavior.slotCount,
            threadsForBlocking: behavior.starter == nil,
            isWorker: true,
            dataDirectory: stage.order.dataDirectory,
            config: behavior.config ?? "{}",
            hostVersion: "check"
        )
        options.servesMain = true
        options.runGuard = behavior.runGuard
        runtime = PluginRuntime(options: options, events: runs, table: table)
        runs.serve(runtime)
        HostWatch.install(
            in: table,
            HostWatch.Behavior(
                hasExtensions: behavior.hasExtensions,
                refuses: behavior.isRefusing,
                callMilliseconds: behavior.callMilliseconds
            )
        )
        if behavior.isNewer {
            table.pointee.abi_minor = 9
            table.pointee.size += 256
        }
        guard behavior.guardsTable else { return }
        stage.watchFaults((UnsafeRawPointer(table), Self.pageBytes, "bg_host, the host's table"))
        mprotect(table, Self.pageBytes, PROT_READ)
    }

    private static let pageBytes = Int(getpagesize())

    private static func page() -> UnsafeMutablePointer<bg_host> {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let page = mmap(nil, pageBytes, PROT_READ | PROT_WRITE, flags, -1, 0),
            page != MAP_FAILED
        else { return .allocate(capacity: 1) }
        return page.assumingMemoryBound(to: bg_host.self)
    }

    // MARK: Opening

    func load() throws(Finding) {
        for line in [starter, control, Self.lines.answers] { try line.requireThread() }
        let mapped = try stage.map()
        let config = behavior.config ?? "{}"
        stage.phase(
            config == stage.order.config
                ? "bghost_plugin_v1() and open()"
                : "open() with the config \(OddText.brief(config))"
        )
        do throws(PluginRefusal) {
            try runtime.load(mapped)
        } catch {
            throw Finding.failed(stage.without(error.message))
        }
        LentThread.lend(to: runtime)
        if behavior.runGuard != .none {
            for slotIndex in 0..<behavior.slotCount {
                // The whole pages: the texts follow the table.
                let start = UnsafeRawPointer(runtime.runInfo(slotIndex: slotIndex))
                stage.watchFaults((start, 160 << 10, "what a run is told"))
            }
        }
    }

    var plugin: PluginDescriptor? { runtime.plugin }

    /// The handler under check.
    func handler() throws(Finding) -> (index: Int, it: PluginDescriptor.Handler) {
        let handlers = plugin?.handlers ?? []
        let name = stage.order.handler ?? handlers.first?.name
        guard let index = handlers.firstIndex(where: { $0.name == name }) else {
            throw Finding.skipped("it has no handler \(name ?? "")")
        }
        return (index, handlers[index])
    }

    // MARK: Runs

    /// Starts a run and returns at once, however long start() takes.
    func begin(
        _ handler: Int? = nil,
        slotIndex: Int = 0,
        parameters: String? = nil,
        resultBytesMax: UInt32 = 64 << 10,
        number: UInt64? = nil,
        isTimed: Bool = false
    ) throws(Finding) -> Begun {
        let index: Int
        if let handler { index = handler } else { index = try self.handler().index }
        let run = number ?? nextNumber(slotIndex: slotIndex)
        let name = plugin?.handlers[index].name ?? ""
        let with = parameters.map { " with the parameters " + OddText.brief($0) } ?? ""
        stage.phase("a run of \(name)\(with)")
        let runtimeMilliseconds = UInt64(stage.order.runtimeMilliseconds)
        let deadline = Monotonic.now + runtimeMilliseconds * 1_000_000
        let start = Start(
            run: run,
            handler: UInt16(index),
            attempt: 1,
            deadline: Int64(clamping: deadline.nanoseconds),
            graceMilliseconds: stage.order.graceMilliseconds,
            resultBytesMax: resultBytesMax,
            task: "org.example.check." + name,
            parameters: parameters ?? stage.order.parameters
        )
        let (entered, returned) = (WaitableEvent(), WaitableEvent())
        let at = Monotonic.now
        starter.perform { [runtime] in
            let (begin, waited) = (Monotonic.now, isTimed ? ServedTime.waitOfThread : 0)
            entered.signal(UInt64(bgs_thread_id()))
            // A start that is refused has no end, which is what the checks look for.
            _ = runtime.start(start)
            let passed = Monotonic.now.since(begin)
            // The account is a file: elsewhere it could be taken for one that the plugin left open.
            let after = isTimed ? ServedTime.waitOfThread : 0
            // A plugin may have taken all descriptors, and then the account cannot be read.
            let during = after - min(after, waited)
            returned.signal(ServedTime.counted(passed, waited: during))
        }
        return Begun(
            run: run,
            slotIndex: slotIndex,
            at: at,
            entered: entered,
            returned: returned
        )
    }

    /// Begins a run, and waits until the machine has served its start().
    ///
    /// The thread that is to call it wakes the waiting one before, which may take its place. On a busy machine its
    /// next turn can come after the moment at which the run is to be cancelled, and start() would come after cancel().
    func beginServed() throws(Finding) -> Begun {
        let begun = try begin()
        let limit = UInt64(stage.order.runtimeMilliseconds) * 1_000_000
        let time = ServedTime()
        guard let thread = begun.entered.wait(milliseconds: Int(stage.order.runtimeMilliseconds)),
            let before = ServedTime.served(thread: thread)
        else { return begun }
        while !ServedTime.isAsleep(thread: thread),
            let served = ServedTime.served(thread: thread), served < before + Self.startMin,
            time.rest(of: limit) > 0
        {
            // It only passes a millisecond.
            _ = poll(nil, 0, 1)
        }
        return begun
    }

    /// So long on a processor, the thread has left the code that calls start(), nanoseconds.
    private static let startMin: UInt64 = 100_000

    /// A number for the next run of a slot.
    func nextNumber(slotIndex: Int) -> UInt64 {
        serial += 1
        return serial << RunSlotNumber.bits | UInt64(slotIndex)
    }

    /// Waits until a run ends, at most its runtime; then cancels it and waits for its grace.
    func finish(_ begun: Begun) -> Story {
        let order = stage.order
        let elapsed = Int(Monotonic.now.since(begun.at) / 1_000_000)
        let rest = max(0, Int(order.runtimeMilliseconds) - elapsed)
        if let end = runs.end(of: begun.run, milliseconds: rest) {
            runs.forget(begun.run)
            return Story(run: begun.run, end: end)
        }
        return stop(begun, why: UInt32(BG_WHY_EXPIRED))
    }

    /// Cancels a run and waits for its grace.
    func stop(_ begun: Begun, why: UInt32) -> Story {
        let asked = Monotonic.now
        control.perform { [runtime] in runtime.cancel(run: begun.run, why: why) }
        // Time that the host spends in its own calls does not count against the plugin.
        let patience = Int(behavior.callMilliseconds) * HostWatch.slowCallsMax
        let grace = Int(stage.order.graceMilliseconds) + patience
        let end = runs.end(of: begun.run, milliseconds: grace)
        runs.forget(begun.run)
        return Story(
            run: begun.run,
            end: end,
            stoppedAfter: end.map { $0.at.since(asked) },
            wasStopped: true
        )
    }

    /// Cancels a run without waiting.
    func cancelSoon(_ begun: Begun, why: UInt32) {
        control.perform { [runtime] in runtime.cancel(run: begun.run, why: why) }
    }

    /// The longest time that `timeCancel` waits, nanoseconds.
    static let cancelTimeMax: UInt64 = 2_000_000_000

    /// Cancels a run.
    ///
    /// - Returns: the nanoseconds until its cancel() had returned, at most `cancelTimeMax`; `nil` if
    ///   cancel() was not called, since the run had ended by itself or was in start().
    func timeCancel(_ begun: Begun, why: UInt32) -> UInt64? {
        let returned = WaitableEvent()
        let done = WaitableEvent()
        let asked = Monotonic.now
        runtime.cancel(run: begun.run, why: why) { returned.signal(Monotonic.now.since(asked)) }
        runtime.afterCallbacks(of: begun.run) { done.signal(0) }
        guard done.wait(milliseconds: Int(Self.cancelTimeMax / 1_000_000)) != nil else {
            return Self.cancelTimeMax
        }
        return returned.wait(milliseconds: 0)
    }

    /// Performs one run from start to end.
    func carry(
        slotIndex: Int = 0,
        parameters: String? = nil,
        resultBytesMax: UInt32 = 64 << 10
    ) throws(Finding) -> Story {
        finish(
            try begin(slotIndex: slotIndex, parameters: parameters, resultBytesMax: resultBytesMax)
        )
    }

    /// Performs one run, for checks that require its end.
    func carryToEnd(
        slotIndex: Int = 0,
        parameters: String? = nil
    ) throws(Finding) -> Story {
        let story = try carry(slotIndex: slotIndex, parameters: parameters)
        guard story.end != nil else {
            throw Finding.skipped(
                "a run did not end, so that nothing can be said of what comes then"
            )
        }
        return story
    }

    /// Performs one run of each handler.
    func carryEach() throws(Finding) {
        // Other checks judge how the runs end.
        for index in 0..<(plugin?.handlers.count ?? 0) { _ = finish(try begin(index)) }
    }

    // MARK: Closing

    /// Closes the plugin.
    ///
    /// - Returns: whether close() returned within two seconds.
    func close() -> Bool {
        stage.phase("close()")
        let isClosed = control.time(milliseconds: 2000) { [runtime] in runtime.close() } != nil
        LentThread.takeBack()
        return isClosed
    }

    /// Runs work on the thread that calls start().
    func onStarter<T: Sendable>(_ work: @escaping @Sendable () -> T) -> T? {
        let later = Later<T>()
        starter.perform { later.set(work()) }
        return later.wait(milliseconds: 5000)
    }
}

extension Subject.Behavior {
    fileprivate var isRefusing: Bool { if case .refusing = hostBehavior { true } else { false } }
}
