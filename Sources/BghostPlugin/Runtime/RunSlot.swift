// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostWire
internal import CBghost
internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// The state of a run in one word, so that every decision about it is a single compare-and-swap:
/// which thread completes it, cancels it, cleans it up.
///
/// The upper bits are the run's number without its slot. A call that names another run, whether an
/// older one of the same slot or an invented one, does not match and returns `BG_E_STALE`.
struct RunWord: Equatable {
    var raw: UInt64

    static let none = RunWord(raw: 0)
    static let isDone: UInt64 = 1
    /// start() has not returned.
    static let isInStart: UInt64 = 2
    /// cancel() has not returned.
    static let isInCancel: UInt64 = 4
    /// The run was cancelled; the slot's `why` has the reason.
    static let isCancelled: UInt64 = 8
    /// cancel() was called, or will not be called.
    static let isCancelSettled: UInt64 = 16
    /// A thread is cleaning up.
    static let isFinishing: UInt64 = 32
    /// The completion is being reported.
    ///
    /// No thread may clean up before that is done; otherwise the run would be reported as released
    /// before it is reported as complete.
    static let isReporting: UInt64 = 64
    /// The daemon is being told that the run has taken the end of a transfer.
    ///
    /// The completion is not reported before that is done: after it, the daemon gives the end to another run.
    static let isTaking: UInt64 = 128

    init(raw: UInt64) { self.raw = raw }

    init(run: UInt64, flags: UInt64) {
        raw = (run >> RunSlotNumber.bits) << 8 | flags
    }

    func belongs(to run: UInt64) -> Bool {
        raw >> 8 == run >> RunSlotNumber.bits && raw != 0
    }

    func has(_ flag: UInt64) -> Bool { raw & flag != 0 }
}

/// The lowest bits of a run's number are its slot.
package enum RunSlotNumber {
    package static let bits: UInt64 = 10
    package static func of(_ run: UInt64) -> Int { Int(run & (1 << bits - 1)) }
}

/// The state of one slot: of the run that it has, or of none.
///
/// It serves one run after the other.
final class RunSlot: @unchecked Sendable {
    // @unchecked: `word` determines which thread may use the other fields. The plain fields are
    // written before the word names the run. Afterwards they are only read, until the one thread
    // that sets `isFinishing` clears them under the lock of `text`, which every reader on another
    // thread holds.

    let word = Atomic<UInt64>(0)
    let why = Atomic<UInt32>(0)
    /// The plugin's own pointer.
    let state = Atomic<UInt>(0)
    let lastProgress = Atomic<UInt64>(0)
    /// The thread that is in start() and sends the queued frames after its return; 0 if start()
    /// runs on another thread.
    let sendingThread = Atomic<UInt>(0)
    /// Calls in the name of the run that have no end yet: fetches, waits for transfers, sleeps.
    ///
    /// The run keeps its slot until there are none.
    let openFetches = Atomic<Int>(0)
    let callbacks = CallbackQueue()
    let text = Mutex<RunText>(RunText())
    let info: UnsafeMutablePointer<bg_run_info>
    /// The pages that contain `info` and the texts, if they are guarded.
    private let pages: GuardedPages?
    var resultBytesMax: UInt32 = 0
    /// The last run that started.
    let begun = Atomic<UInt64>(0)
    var handler = 0
    /// A descriptor that is readable once the run is cancelled.
    ///
    /// The next run reuses it unless the run was cancelled.
    private(set) var cancelDescriptor: Int32 = -1

    init(_ runGuard: RunGuard) {
        pages = runGuard == .none ? nil : GuardedPages(runGuard)
        info = pages?.info ?? .allocate(capacity: 1)
        info.initialize(to: bg_run_info())
        if let pages { text.withLock { $0.place(in: pages.texts) } }
    }

    /// Makes the pages writable before a run.
    func open() { pages?.open() }
    /// Makes the pages readable for the run.
    func show() { pages?.show() }
    /// Closes the pages after the run.
    func close() { pages?.close() }

    var current: RunWord { RunWord(raw: word.load(ordering: .acquiring)) }

    /// Sets and clears flags if the word still belongs to the run.
    ///
    /// - Returns: the previous word, or `nil` if it belongs to another run or has a flag of
    ///   `unless`.
    @inline(__always)
    func change(
        _ run: UInt64,
        set: UInt64 = 0,
        clear: UInt64 = 0,
        unless forbidden: UInt64 = 0
    ) -> RunWord? {
        var old = word.load(ordering: .acquiring)
        while true {
            let word = RunWord(raw: old)
            guard word.belongs(to: run), old & forbidden == 0 else { return nil }
            let (exchanged, original) = self.word.weakCompareExchange(
                expected: old,
                desired: (old & ~clear) | set,
                ordering: .acquiringAndReleasing
            )
            if exchanged { return word }
            old = original
        }
    }

    /// Sets flags of the end of the run, once no thread is telling of an end that the run takes.
    ///
    /// - Returns: the previous word, or `nil` if it belongs to another run or has ended.
    @inline(__always)
    func end(_ run: UInt64, set flags: UInt64) -> RunWord? {
        while true {
            if let before = change(run, set: flags, unless: RunWord.isDone | RunWord.isTaking) {
                return before
            }
            let word = current
            guard word.belongs(to: run), !word.has(RunWord.isDone) else { return nil }
            // The other thread only has to put a frame into a queue.
            sched_yield()
        }
    }

    /// Opens the cancel descriptor if there is none.
    func prepareCancelDescriptor() {
        guard cancelDescriptor < 0 else { return }
        // -1 is what the ABI promises where there is none.
        cancelDescriptor = max(-1, bgs_eventfd())
    }

    func signalCancelDescriptor() {
        // Without a descriptor, the run learns of it by its callback.
        _ = bgs_eventfd_signal(cancelDescriptor)
    }

    /// Closes the descriptor after a cancelled run, or after the last run: the next run gets
    /// another one, because the plugin may have kept a copy.
    func closeCancelDescriptor() {
        guard cancelDescriptor >= 0 else { return }
        Glibc.close(cancelDescriptor)
        cancelDescriptor = -1
    }
}

/// The texts of a run, which stay in place until it is released.
struct RunText: ~Copyable {
    private var buffer: UnsafeMutableRawBufferPointer = .init(start: nil, count: 0)
    private var isPlaced = false
    private(set) var parameters = bg_str()
    /// The parsed parameters, created when the plugin first looks up a value.
    var parsed: JSONNode?
    var names = RunNames()
    var traceparent = ""
    var tracestate = ""
    /// What the plugin said that the run fails with.
    var error: HandlerError?

    /// The locations of the texts.
    struct Placed: @unchecked Sendable {
        // @unchecked: they point to bytes that no thread writes until the run is released.
        let task: bg_str
        let parameters: bg_str
    }

    mutating func set(task: String, parameters: String) -> Placed {
        let count = task.utf8.count + parameters.utf8.count
        if buffer.count < count {
            // The guarded memory is too small for this run, which therefore is not guarded.
            if !isPlaced { buffer.deallocate() }
            isPlaced = false
            buffer = .allocate(byteCount: max(256, count), alignment: 1)
        }
        var offset = 0
        let task = place(task, at: &offset)
        self.parameters = place(parameters, at: &offset)
        parsed = nil
        return Placed(task: task, parameters: self.parameters)
    }

    /// Sets the memory for the texts, as far as they fit.
    mutating func place(in memory: UnsafeMutableRawBufferPointer) {
        (buffer, isPlaced) = (memory, true)
    }

    private func place(_ text: String, at offset: inout Int) -> bg_str {
        var text = text
        guard let start = buffer.baseAddress.map({ $0 + offset }) else { return bg_str() }
        return text.withUTF8 { bytes in
            if let source = bytes.baseAddress {
                start.copyMemory(from: source, byteCount: bytes.count)
            }
            offset += bytes.count
            return bg_str(ptr: start.assumingMemoryBound(to: CChar.self), len: bytes.count)
        }
    }

    deinit {
        if !isPlaced { buffer.deallocate() }
    }
}
