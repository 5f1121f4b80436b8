// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import CBghost
internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// What is known of a run at one moment, in one word, so that every decision about it is a single
/// compare-and-set: who completes it, who cancels it, who cleans up.
///
/// The upper bits are the run's number without its lane. A call that names another run, an older one
/// of the same lane or an invented one, does not match and is answered `BG_E_STALE`.
struct RunWord: Equatable {
    var raw: UInt64

    static let none = RunWord(raw: 0)
    static let isDone: UInt64 = 1
    /// start() has not returned.
    static let isInStart: UInt64 = 2
    /// cancel() has not returned.
    static let isInCancel: UInt64 = 4
    /// A stop was asked for; the slot's `why` says which.
    static let isCancelled: UInt64 = 8
    /// cancel() was called, or will not be.
    static let isCancelSettled: UInt64 = 16
    /// Somebody cleans up.
    static let isSettling: UInt64 = 32
    /// The completion is on its way to the voice.
    ///
    /// Nobody may clean up before it is said, or the run would be told to be released before it is
    /// told to be complete.
    static let isReporting: UInt64 = 64

    init(raw: UInt64) { self.raw = raw }

    init(run: UInt64, flags: UInt64) {
        raw = (run >> LaneNumber.bits) << 8 | flags
    }

    func belongs(to run: UInt64) -> Bool {
        raw >> 8 == run >> LaneNumber.bits && raw != 0
    }

    func has(_ flag: UInt64) -> Bool { raw & flag != 0 }
}

/// The lane of a run is in the lowest bits of its number.
package enum LaneNumber {
    package static let bits: UInt64 = 10
    package static func of(_ run: UInt64) -> Int { Int(run & (1 << bits - 1)) }
}

/// One lane's place for a run.
///
/// It is made once and serves one run after the other.
final class RunSlot: @unchecked Sendable {
    // @unchecked: `word` decides who may touch the rest. The plain fields are written before the word
    // names the run, and only read until the one thread that sets `isSettling` clears them, under
    // `text`'s lock, which every reader of them on a foreign thread holds.

    let word = Atomic<UInt64>(0)
    let why = Atomic<UInt32>(0)
    /// The plugin's own pointer.
    let state = Atomic<UInt>(0)
    let lastProgress = Atomic<UInt64>(0)
    /// The thread that is in start() and sends, after its return, what waits to be sent; 0 if start()
    /// runs on another one.
    let sendingThread = Atomic<UInt>(0)
    let openFetches = Atomic<Int>(0)
    let callbacks = CallbackQueue()
    let text = Mutex<RunText>(RunText())
    let info: UnsafeMutablePointer<bg_run_info>
    /// The pages on which `info` and the texts lie, where they are guarded.
    private let pages: GuardedPages?
    var resultBytesMax: UInt32 = 0
    /// The run that began last.
    let begun = Atomic<UInt64>(0)
    var handler = 0
    /// Readable once the run is cancelled.
    ///
    /// Kept from run to run as long as it was not.
    private(set) var cancelDescriptor: Int32 = -1

    init(_ runGuard: RunGuard) {
        pages = runGuard == .none ? nil : GuardedPages(runGuard)
        info = pages?.info ?? .allocate(capacity: 1)
        info.initialize(to: bg_run_info())
        if let pages { text.withLock { $0.place(in: pages.texts) } }
    }

    /// Before a run: what it is told can be written.
    func open() { pages?.open() }
    /// The run can read it.
    func show() { pages?.show() }
    /// The run is over.
    func close() { pages?.close() }

    var current: RunWord { RunWord(raw: word.load(ordering: .acquiring)) }

    /// Sets and clears flags as long as the word still belongs to the run.
    ///
    /// - Returns: the word before, or `nil` if it belongs to another run or `unless` was set.
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

    /// Opens the cancel descriptor if there is none.
    func prepareCancelDescriptor() {
        guard cancelDescriptor < 0 else { return }
        cancelDescriptor = bgs_eventfd()
    }

    func signalCancelDescriptor() {
        _ = bgs_eventfd_signal(cancelDescriptor)
    }

    /// After a cancelled run: the next one gets a descriptor of its own, because the plugin may have
    /// kept a copy of this one.
    func renewCancelDescriptor() {
        Glibc.close(cancelDescriptor)
        cancelDescriptor = -1
    }
}

/// The texts of a run, which stay where they are until it is released.
struct RunText: ~Copyable {
    private var buffer: UnsafeMutableRawBufferPointer = .init(start: nil, count: 0)
    private var isPlaced = false
    private(set) var parameters = bg_str()
    /// The parameters as a tree, made when the plugin first looks one up.
    var parsed: JSONNode?

    /// Where the texts are now.
    struct Placed: @unchecked Sendable {
        // @unchecked: they point to bytes that nobody writes until the run is released.
        let task: bg_str
        let parameters: bg_str
    }

    mutating func set(task: String, parameters: String) -> Placed {
        let count = task.utf8.count + parameters.utf8.count
        if buffer.count < count {
            // What was placed is too small for this one, which is then not guarded.
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

    /// Has the texts lie there, as far as they fit.
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
