// SPDX-License-Identifier: Apache-2.0

package import BghostWire
package import CBghost
internal import Glibc
internal import Synchronization

/// The host's side of the ABI for one plugin: it starts, cancels and completes runs, and handles
/// the plugin's calls.
///
/// Worker and daemon use the same class.
///
/// A runtime lives as long as its process: the plugin may use its tables at any time from threads
/// that the host does not know, so the tables and the memory they point to are never freed.
package final class PluginRuntime: @unchecked Sendable {
    // @unchecked: `handlers`, `slots`, `table` and `instance` are set before the first run starts
    // and do not change afterwards; the rest is atomic or protected by a mutex.

    let events: any RuntimeEventSink
    let options: Options
    let slots: [RunSlot]
    /// The host table that the plugin calls.
    package let table: UnsafeMutablePointer<bg_host>
    let calls = CallTable()
    let logRate = LogRate()
    let isClosed = Atomic<Bool>(false)
    private let dataDirectory: bg_str
    let threads = ThreadPool()
    /// The threads for `RunSlot.callbacks`.
    let callers = ThreadPool()
    /// Calls plugin functions that must not run on the stack that caused them.
    let finisher = ThreadPool(threadsMax: 1)
    /// Runs that were cancelled before they started: the order between the two sockets is
    /// undefined.
    let early = Mutex<[UInt64: UInt32]>([:])
    private(set) var program: Program = .none
    let mainServices = Mutex(MainServices())

    enum Program {
        case none
        case plugin(PluginDescriptor, instance: UnsafeMutableRawPointer?)
        case function(any CallableFunction)
    }

    /// Creates a runtime with no plugin.
    ///
    /// Its memory is never freed.
    ///
    /// - Parameter table: memory for the host table, for a caller that guards it; filled here and
    ///   never written again.
    package init(
        options: Options,
        events: any RuntimeEventSink,
        table: UnsafeMutablePointer<bg_host>? = nil
    ) {
        self.options = options
        self.events = events
        slots = (0..<options.slotCount).map { _ in RunSlot(options.runGuard) }
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

    /// Loads a plugin after reading its note, checks its table, and opens it.
    ///
    /// - Parameters:
    ///   - held: a descriptor of the library, where the host holds it; the path is then for
    ///     messages only.
    ///   - heldNeeds: descriptors of the libraries that it needs.
    ///   - mapped: called with the address of the entry function before that is called.
    package func load(
        path: String,
        held: Int32? = nil,
        heldNeeds: [Int32] = [],
        mapped note: (UnsafeRawPointer) -> Void = { _ in }
    ) throws(PluginRefusal) {
        let mapped = try PluginLoader.map(
            path: path,
            held: held,
            heldNeeds: heldNeeds,
            inDaemon: !options.isWorker
        )
        note(unsafeBitCast(mapped.entry, to: UnsafeRawPointer.self))
        try load(mapped)
    }

    /// Checks the table of a mapped plugin, and opens it.
    package func load(_ mapped: PluginLoader.Mapped) throws(PluginRefusal) {
        try open(try mapped.descriptor(for: table), path: mapped.path)
    }

    /// Opens a plugin that is compiled into this program.
    ///
    /// - Parameters:
    ///   - plugin: what `PluginLoader.descriptor(of:in:)` found in its table.
    ///   - name: what messages call the plugin.
    package func load(_ plugin: PluginDescriptor, as name: String) throws(PluginRefusal) {
        try open(plugin, path: name)
    }

    private func open(_ plugin: PluginDescriptor, path: String) throws(PluginRefusal) {
        var instance: UnsafeMutableRawPointer?
        if let open = plugin.open {
            mainServices.withLock { $0.isOpen = options.servesMain }
            let status = open(table, Self.immortal(options.config), &instance)
            mainServices.withLock { $0.isOpen = false }
            guard status == BG_OK else {
                throw PluginRefusal(
                    code: "open-failed",
                    message: "\(path): plugin \(plugin.id): open() answered \(status);"
                        + " the plugin's log says why"
                )
            }
        }
        program = .plugin(plugin, instance: instance)
    }

    /// Uses a C function instead of a plugin.
    package func load(function: any CallableFunction) {
        program = .function(function)
    }

    /// The loaded plugin; `nil` for a function.
    package var plugin: PluginDescriptor? {
        guard case .plugin(let plugin, _) = program else { return nil }
        return plugin
    }

    /// The start of the message of a run whose start() returned an undefined positive status.
    package static let unknownStatus = "start() answered "

    /// The data that the latest run of a slot got.
    package func runInfo(slotIndex: Int) -> UnsafePointer<bg_run_info> {
        UnsafePointer(slots[slotIndex].info)
    }

    // MARK: Runs

    /// Starts a run on the calling thread, or on its own thread if its handler may block.
    ///
    /// Only one thread at a time may call this for one slot, and not a thread of a pool that other
    /// code waits for.
    ///
    /// - Returns: `false` if the slot is in use or the handler does not exist; then nothing was
    ///   done.
    package func start(_ start: Start) -> Bool {
        let slotIndex = RunSlotNumber.of(start.run)
        guard slotIndex < slots.count, slots[slotIndex].word.load(ordering: .acquiring) == 0 else {
            return false
        }
        let slot = slots[slotIndex]
        guard fill(slot, start) else { return false }
        slot.word.store(
            RunWord(run: start.run, flags: RunWord.isInStart).raw,
            ordering: .releasing
        )
        // Store this before the check below: a later cancellation then finds that the run has
        // started.
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
            text.names = start.names
            text.traceparent = start.traceparent
            text.tracestate = start.tracestate
            text.error = nil
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
        if slot.cancelDescriptor < 0 { noteMissingDescriptor(start.run) }
        return true
    }

    /// Logs that a run cannot wait for its cancellation with `poll()`.
    private func noteMissingDescriptor(_ run: UInt64) {
        var text =
            "it has no `cancel_fd`, since its worker can open no more descriptors: the plugin has them"
            + " open, or raise `limits.descriptors`"
        text.withUTF8 {
            events.log(run: run, level: 3, dropped: 0, text: UnsafeRawBufferPointer($0))
        }
    }

    /// Calls start() and handles its return value.
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
        finishIfIdle(slot, run)
    }

    /// The fast path for a run that ends when start() returns and needs no cleanup: one frame
    /// reports both the completion and the free slot.
    private func endAtOnce(_ slot: RunSlot, _ run: UInt64, _ status: Int32) -> Bool {
        guard slot.openFetches.load(ordering: .acquiring) == 0,
            slot.change(
                run,
                set: RunWord.isDone | RunWord.isFinishing,
                clear: RunWord.isInStart,
                unless: RunWord.isDone | RunWord.isInCancel | RunWord.isTaking
            ) != nil
        else { return false }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        let error = self.error(of: slot, status)
        clear(slot)
        events.completed(
            RunCompletion(
                run: run,
                status: status,
                retryAfterMilliseconds: 0,
                message: none,
                payload: none,
                isReleased: true,
                error: error
            ),
            mayWait: sendsLater(slot)
        )
        return true
    }

    /// Completes a run on the host's own stack, unless it is already complete.
    func finish(
        _ slot: RunSlot,
        _ run: UInt64,
        status: Int32,
        message: String,
        payload: String = ""
    ) {
        guard slot.end(run, set: RunWord.isDone | RunWord.isReporting) != nil else { return }
        // While the flag is set, the run is not released, so the word is its own.
        defer { _ = slot.change(run, clear: RunWord.isReporting) }
        let error = self.error(of: slot, status)
        var message = message
        var payload = payload
        message.withUTF8 { message in
            payload.withUTF8 { payload in
                events.completed(
                    RunCompletion(
                        run: run,
                        status: status,
                        retryAfterMilliseconds: 0,
                        message: truncated(
                            UnsafeRawBufferPointer(message),
                            max: RuntimeLimits.messageBytesMax
                        ),
                        payload: UnsafeRawBufferPointer(payload),
                        isReleased: false,
                        error: error
                    ),
                    // Do not wait if there is a release(): a crash in it must not lose the outcome.
                    mayWait: !hasRelease(slot) && sendsLater(slot)
                )
            }
        }
    }

    // MARK: The end of a run

    /// Cleans up after a run that is complete and in which no plugin code is active.
    ///
    /// Call it on a stack of the host, because it may call release().
    func finishIfIdle(_ slot: RunSlot, _ run: UInt64) {
        guard slot.current.has(RunWord.isDone) else { return }
        endFetches(of: run, in: slot)
        guard slot.openFetches.load(ordering: .acquiring) == 0,
            slot.change(
                run,
                set: RunWord.isFinishing,
                unless: RunWord.isFinishing | RunWord.isReporting | RunWord.isInStart
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
        events.released(run)
    }

    /// Prepares a settled slot for the next run.
    func clear(_ slot: RunSlot) {
        if slot.current.has(RunWord.isCancelled) { slot.closeCancelDescriptor() }
        // The lock waits for a reader of the texts, and for a report, that started before the run was
        // complete. A later one must see within the lock that the run is over.
        slot.text.withLock {
            $0.parsed = nil
            slot.close()
            slot.word.store(0, ordering: .releasing)
        }
    }
}
