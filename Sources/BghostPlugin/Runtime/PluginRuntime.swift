// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
package import BghostWire
package import CBghost
internal import Glibc
internal import Synchronization

/// The host's side of the ABI for one plugin: it begins, cancels and completes runs, and answers
/// what the plugin calls.
///
/// Worker and daemon use the same one.
///
/// A runtime lives as long as its process: the plugin may call into its tables at any time from
/// threads that nobody knows of, so the tables and what they point to are never freed.
package final class PluginRuntime: @unchecked Sendable {
    // @unchecked: `handlers`, `slots`, `table` and `instance` are set before the first run begins and
    // not changed then; the rest is atomic or behind a mutex.

    /// How runs are given threads.
    package struct Options: Sendable {
        /// How many runs there may be at once.
        package var lanes: Int
        /// Whether handlers that may block get threads of their own.
        ///
        /// If not, they have the thread that calls `start`.
        package var threadsForBlocking: Bool
        package var isWorker: Bool
        /// Absolute.
        package var dataDirectory: String
        /// A JSON object.
        package var config: String
        package var hostVersion: String
        /// Who is kept from what runs are told: for `plugin check`.
        package var runGuard = RunGuard.none

        package init(
            lanes: Int,
            threadsForBlocking: Bool,
            isWorker: Bool,
            dataDirectory: String,
            config: String,
            hostVersion: String
        ) {
            self.lanes = lanes
            self.threadsForBlocking = threadsForBlocking
            self.isWorker = isWorker
            self.dataDirectory = dataDirectory
            self.config = config
            self.hostVersion = hostVersion
        }
    }

    let voice: any RuntimeVoice
    let options: Options
    let slots: [RunSlot]
    /// What the plugin calls.
    package let table: UnsafeMutablePointer<bg_host>
    let calls = CallTable()
    let logRate = LogRate()
    let isClosed = Atomic<Bool>(false)
    private let dataDirectory: bg_str
    private let threads = ThreadPool()
    /// For `RunSlot.callbacks`.
    let callers = ThreadPool()
    /// Calls back into the plugin what must not run on the stack that caused it.
    let settler = ThreadPool(threadsMax: 1)
    /// Runs that were cancelled before they began: the two sockets are not ordered between them.
    let early = Mutex<[UInt64: UInt32]>([:])
    private(set) var program: Program = .none

    enum Program {
        case none
        case plugin(PluginDescriptor, instance: UnsafeMutableRawPointer?)
        case function(ForeignFunction)
    }

    /// Makes a runtime with nothing loaded.
    ///
    /// Its memory is never given back.
    ///
    /// - Parameter table: where the plugin's table is to lie, for whoever watches over it; filled here,
    ///   and never written again.
    package init(
        options: Options,
        voice: any RuntimeVoice,
        table: UnsafeMutablePointer<bg_host>? = nil
    ) {
        self.options = options
        self.voice = voice
        slots = (0..<options.lanes).map { _ in RunSlot(options.runGuard) }
        dataDirectory = Self.immortal(options.dataDirectory)
        self.table = table ?? .allocate(capacity: 1)
        self.table.initialize(to: bg_host())
        fillTable(version: Self.immortal(options.hostVersion))
    }

    /// A copy that is never freed.
    static func immortal(_ text: String) -> bg_str {
        bg_str(ptr: UnsafePointer(strdup(text)), len: text.utf8.count)
    }

    // MARK: Loading

    /// Loads a plugin after reading its note, checks its descriptor, and opens it.
    ///
    /// - Parameter held: the library itself, where somebody holds it; the path is for messages then.
    package func load(path: String, held: Int32? = nil) throws(PluginRefusal) {
        try load(PluginLoader.map(path: path, held: held))
    }

    /// Checks the descriptor of a plugin that is mapped, and opens it.
    package func load(_ mapped: PluginLoader.Mapped) throws(PluginRefusal) {
        let plugin = try mapped.descriptor(for: table)
        var instance: UnsafeMutableRawPointer?
        if let open = plugin.open {
            let status = open(table, Self.immortal(options.config), &instance)
            guard status == BG_OK else {
                throw PluginRefusal(
                    code: "open-failed",
                    message: "\(mapped.path): plugin \(plugin.id): open() answered \(status);"
                        + " the plugin's log says why"
                )
            }
        }
        program = .plugin(plugin, instance: instance)
    }

    /// Binds a C function instead of a plugin.
    package func load(function: ForeignFunction) {
        program = .function(function)
    }

    /// The loaded plugin; `nil` for a function.
    package var plugin: PluginDescriptor? {
        guard case .plugin(let plugin, _) = program else { return nil }
        return plugin
    }

    /// The beginning of a run's message if its start() answered something above 0 that means nothing.
    package static let unknownStatus = "start() answered "

    /// What the latest run of a lane was told.
    package func runInfo(lane: Int) -> UnsafePointer<bg_run_info> {
        UnsafePointer(slots[lane].info)
    }

    // MARK: Runs

    /// Begins a run on the calling thread, or on one of its own if its handler may block.
    ///
    /// One thread calls this, and it must not be one of a pool that others wait for.
    ///
    /// - Returns: `false` if the lane is taken or the handler does not exist; nothing happened then.
    package func start(_ start: Start) -> Bool {
        let lane = LaneNumber.of(start.run)
        guard lane < slots.count, slots[lane].word.load(ordering: .acquiring) == 0 else {
            return false
        }
        let slot = slots[lane]
        guard fill(slot, start) else { return false }
        slot.word.store(
            RunWord(run: start.run, flags: RunWord.isInStart).raw,
            ordering: .releasing
        )
        // Before the look below: a cancel that comes later finds the run begun.
        slot.begun.store(start.run, ordering: .releasing)
        let why = early.withLock { early -> UInt32? in
            early.isEmpty ? nil : early.removeValue(forKey: start.run)
        }
        if let why { cancel(run: start.run, why: why, isBeforeStart: true) }
        switch program {
        case .none: return false
        case .plugin(let plugin, let instance):
            let handler = plugin.handlers[Int(start.handler)]
            if handler.flags.contains(.mayBlock), options.threadsForBlocking {
                threads.run { [self] in
                    enter(slot, start.run, handler, instance, sendsAfterwards: false)
                }
            } else {
                enter(
                    slot,
                    start.run,
                    handler,
                    instance,
                    sendsAfterwards: options.isWorker
                )
            }
        case .function(let function):
            slot.sendingThread.store(0, ordering: .relaxed)
            threads.run { [self] in callFunction(function, slot, start) }
        }
        return true
    }

    private func fill(_ slot: RunSlot, _ start: Start) -> Bool {
        if case .plugin(let plugin, _) = program, Int(start.handler) >= plugin.handlers.count {
            return false
        }
        slot.handler = Int(start.handler)
        slot.why.store(0, ordering: .relaxed)
        slot.state.store(0, ordering: .relaxed)
        slot.lastProgress.store(0, ordering: .relaxed)
        slot.prepareCancelDescriptor()
        let info = slot.info
        slot.resultBytesMax = start.resultBytesMax
        let placed = slot.text.withLock { text in
            slot.open()
            return text.set(task: start.task, parameters: start.parameters)
        }
        info.pointee.task_id = placed.task
        info.pointee.params = placed.parameters
        info.pointee.size = UInt32(MemoryLayout<bg_run_info>.size)
        info.pointee.attempt = start.attempt
        info.pointee.run = start.run
        info.pointee.data_dir = dataDirectory
        info.pointee.deadline_mono_ns = start.deadline
        info.pointee.grace_ms = start.graceMilliseconds
        info.pointee.max_result = start.resultBytesMax
        info.pointee.cancel_fd = slot.cancelDescriptor
        info.pointee.flags =
            (options.isWorker ? UInt32(BG_RUN_WORKER) : 0)
            | (start.isWake ? UInt32(BG_RUN_WAKE) : 0)
        if case .plugin(let plugin, _) = program {
            let address = plugin.handlers[Int(start.handler)].address
            info.pointee.task = UnsafePointer(bitPattern: address)
        }
        slot.show()
        return true
    }

    /// Calls start() and sees to what its return means.
    private func enter(
        _ slot: RunSlot,
        _ run: UInt64,
        _ handler: PluginDescriptor.Handler,
        _ instance: UnsafeMutableRawPointer?,
        sendsAfterwards: Bool
    ) {
        slot.sendingThread.store(sendsAfterwards ? UInt(pthread_self()) : 0, ordering: .relaxed)
        let status = handler.start(instance, slot.info)
        if status <= 0, handler.release == nil, endAtOnce(slot, run, status) { return }
        if status != BG_PENDING {
            if status > 0 {
                let text = Self.unknownStatus + "\(status), which is no status of this ABI"
                finish(slot, run, status: BG_E_FAILED, message: text)
            } else {
                finish(slot, run, status: status, message: "")
            }
        }
        guard let before = slot.change(run, clear: RunWord.isInStart) else { return }
        if before.has(RunWord.isCancelled), !before.has(RunWord.isDone) {
            deliverCancel(slot, run, mayOverlapStart: true)
        }
        trySettle(slot, run)
    }

    /// The short way for a run that ends by start()'s return and has nothing to clean up: one frame
    /// says that it is complete and that its lane is free.
    private func endAtOnce(_ slot: RunSlot, _ run: UInt64, _ status: Int32) -> Bool {
        guard slot.openFetches.load(ordering: .acquiring) == 0,
            slot.change(
                run,
                set: RunWord.isDone | RunWord.isSettling,
                clear: RunWord.isInStart,
                unless: RunWord.isDone | RunWord.isInCancel
            ) != nil
        else { return false }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        clear(slot)
        voice.completed(
            RunCompletion(
                run: run,
                status: status,
                retryAfterMilliseconds: 0,
                message: none,
                payload: none,
                isReleased: true
            ),
            mayWait: sendsLater(slot)
        )
        return true
    }

    /// Completes a run on the host's own stack, unless that has been done.
    func finish(
        _ slot: RunSlot,
        _ run: UInt64,
        status: Int32,
        message: String,
        payload: String = ""
    ) {
        guard
            slot.change(
                run,
                set: RunWord.isDone | RunWord.isReporting,
                unless: RunWord.isDone
            ) != nil
        else { return }
        defer { _ = slot.change(run, clear: RunWord.isReporting) }
        var message = message
        var payload = payload
        message.withUTF8 { message in
            payload.withUTF8 { payload in
                voice.completed(
                    RunCompletion(
                        run: run,
                        status: status,
                        retryAfterMilliseconds: 0,
                        message: truncated(
                            UnsafeRawBufferPointer(message),
                            max: RuntimeLimits.messageBytesMax
                        ),
                        payload: UnsafeRawBufferPointer(payload),
                        isReleased: false
                    ),
                    // A crash in release() must not take the outcome with it.
                    mayWait: !hasRelease(slot) && sendsLater(slot)
                )
            }
        }
    }

    // MARK: The end of a run

    /// Cleans up after a run that is complete and in which the plugin is not active any more.
    ///
    /// Must be called on a stack of the host's own, because it may call release().
    func trySettle(_ slot: RunSlot, _ run: UInt64) {
        guard slot.current.has(RunWord.isDone) else { return }
        endFetches(of: run, in: slot)
        guard slot.openFetches.load(ordering: .acquiring) == 0,
            slot.change(
                run,
                set: RunWord.isSettling,
                unless: RunWord.isSettling | RunWord.isReporting | RunWord.isInStart
                    | RunWord.isInCancel
            ) != nil
        else { return }
        if case .plugin(let plugin, let instance) = program,
            let release = plugin.handlers[slot.handler].release
        {
            release(
                instance,
                run,
                UnsafeMutableRawPointer(bitPattern: slot.state.load(ordering: .acquiring))
            )
        }
        clear(slot)
        voice.released(run)
    }

    /// Makes a settled slot ready for the next run.
    func clear(_ slot: RunSlot) {
        if slot.current.has(RunWord.isCancelled) { slot.renewCancelDescriptor() }
        // Waits for a reader of the texts that began before the run was complete.
        slot.text.withLock {
            $0.parsed = nil
            slot.close()
        }
        slot.word.store(0, ordering: .releasing)
    }
}
