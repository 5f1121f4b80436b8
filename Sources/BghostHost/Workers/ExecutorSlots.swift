// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostWire

/// What the daemon keeps of an executor: its slots, its handlers and its open calls.
///
/// Use it on the host's executor only.
final class ExecutorSlots {
    enum State {
        /// Cannot start runs yet; assigned runs wait.
        case loading
        case live
        /// Gets no more runs and finishes when it has none.
        case retiring
        /// Asked to finish, or killed; the host waits for its end.
        case ending
        case gone
    }

    /// A running fetch for one of the runs.
    struct OpenFetch {
        let run: UInt64
        let task: Task<Void, Never>
    }

    /// A pending wait for the end of a transfer, for one of the runs.
    struct OpenTransferWait {
        let run: UInt64
        let transfer: RunID
        let task: Task<Void, Never>
        /// Whether the run was cancelled or has ended.
        var isDetached = false
        /// Whether the end was sent to the plugin and the plugin has not acknowledged it.
        var isHandedOut = false
    }

    /// The names of a run that may have ended.
    struct PastRun {
        let number: UInt64
        let id: RunID
        let task: String
        let trace: TraceContext?
    }

    /// The last run of each slot; later messages of its handler still belong to it.
    var lastRunOfSlot: [PastRun?]
    /// Unique among the host's current executors; `SerialNumbers` wraps after 2^32.
    let serial: UInt32
    let plugin: PluginSlot
    var state = State.loading
    /// The number of the run in each slot; 0 if the slot is free.
    var runOfSlot: [UInt64]
    /// The number of slots with a completed run that the handler has not released.
    var unreleased = 0
    /// When the run of each such slot was complete; `never` for every other slot.
    var unreleasedSince: [MonotonicInstant]
    /// Whether the handler has released the run of each slot.
    var hasReleased: [Bool]
    /// The free slots.
    private(set) var freeSlots: [Int]
    var handlers: [Ready.Handler] = []
    /// The SHA-256 of the plugin's library, or "" if unknown.
    var libraryDigest = ""
    /// The origin of the code that the executor runs; `nil` until it is loaded.
    var origin: RunOrigin?
    /// The number of its runs that have ended.
    var runsCarried = 0
    /// The number of calls without a reply.
    var openCalls = 0
    /// Output that is no single run's.
    var sharedOutput = SharedOutput()
    /// Running fetches by call number.
    var fetches: [UInt64: OpenFetch] = [:]
    /// Pending waits for transfers by call number.
    var transferWaits: [UInt64: OpenTransferWait] = [:]
    /// The monotonic deadline of the executor's timer; `never` if none is set.
    var deadline: MonotonicInstant = .never
    /// When the newest run started.
    var begunAt: MonotonicInstant = .zero
    /// Whether the last run was so short that the next one should start on the reactor's processor.
    var isLikelyShort = false
    /// Whether the executor is pinned to the reactor's processor.
    var isPinned = false
    /// Whether the executor is in the plugin's list of executors with a free slot.
    var isListed = false

    init(serial: UInt32, plugin: PluginSlot, slotCount: Int) {
        self.serial = serial
        self.plugin = plugin
        runOfSlot = [UInt64](repeating: 0, count: slotCount)
        hasReleased = [Bool](repeating: false, count: slotCount)
        unreleasedSince = [MonotonicInstant](repeating: .never, count: slotCount)
        lastRunOfSlot = [PastRun?](repeating: nil, count: slotCount)
        freeSlots = Array((0..<slotCount).reversed())
    }

    var isIdle: Bool { freeSlots.count == runOfSlot.count }

    /// Whether a run is in progress; a completed one that its handler has not released is not.
    var hasRun: Bool { runsInProgress > 0 }

    /// The number of runs in progress.
    var runsInProgress: Int { runOfSlot.count - freeSlots.count - unreleased }

    /// Whether exactly one slot is in use.
    var isAlmostIdle: Bool { freeSlots.count + 1 == runOfSlot.count }

    /// Whether at most one slot is free.
    var hasOneFreeSlot: Bool { freeSlots.count <= 1 }

    func takeSlot() -> Int? { freeSlots.popLast() }

    func freeSlot(_ slotIndex: Int) {
        runOfSlot[slotIndex] = 0
        hasReleased[slotIndex] = false
        unreleasedSince[slotIndex] = .never
        freeSlots.append(slotIndex)
    }

    /// The numbers of the current runs.
    var runs: [UInt64] { runOfSlot.filter { $0 != 0 } }

    /// The index of a handler; `nil` if the plugin has none of that name.
    func handlerIndex(_ name: String) -> Int? {
        // A function has one handler, regardless of the name in the task.
        plugin.isFunction ? 0 : handlers.firstIndex { $0.name == name }
    }
}

// Each executor has its slots; these make them look like its own.
extension RunExecutor {
    var lastRunOfSlot: [ExecutorSlots.PastRun?] {
        get { slots.lastRunOfSlot }
        _modify { yield &slots.lastRunOfSlot }
    }
    var serial: UInt32 { slots.serial }
    var plugin: PluginSlot { slots.plugin }
    var state: ExecutorSlots.State {
        get { slots.state }
        set { slots.state = newValue }
    }
    var runOfSlot: [UInt64] {
        get { slots.runOfSlot }
        _modify { yield &slots.runOfSlot }
    }
    var unreleased: Int {
        get { slots.unreleased }
        set { slots.unreleased = newValue }
    }
    var hasReleased: [Bool] {
        get { slots.hasReleased }
        _modify { yield &slots.hasReleased }
    }
    var handlers: [Ready.Handler] {
        get { slots.handlers }
        _modify { yield &slots.handlers }
    }
    var libraryDigest: String {
        get { slots.libraryDigest }
        set { slots.libraryDigest = newValue }
    }
    var origin: RunOrigin? {
        get { slots.origin }
        set { slots.origin = newValue }
    }
    var runsCarried: Int {
        get { slots.runsCarried }
        set { slots.runsCarried = newValue }
    }
    var openCalls: Int {
        get { slots.openCalls }
        set { slots.openCalls = newValue }
    }
    var fetches: [UInt64: ExecutorSlots.OpenFetch] {
        get { slots.fetches }
        _modify { yield &slots.fetches }
    }
    var transferWaits: [UInt64: ExecutorSlots.OpenTransferWait] {
        get { slots.transferWaits }
        _modify { yield &slots.transferWaits }
    }
    var deadline: MonotonicInstant {
        get { slots.deadline }
        set { slots.deadline = newValue }
    }
    var begunAt: MonotonicInstant {
        get { slots.begunAt }
        set { slots.begunAt = newValue }
    }
    var isLikelyShort: Bool {
        get { slots.isLikelyShort }
        set { slots.isLikelyShort = newValue }
    }
    var isPinned: Bool {
        get { slots.isPinned }
        set { slots.isPinned = newValue }
    }
    var isListed: Bool {
        get { slots.isListed }
        set { slots.isListed = newValue }
    }
    var isIdle: Bool { slots.isIdle }
    var hasRun: Bool { slots.hasRun }
    var isAlmostIdle: Bool { slots.isAlmostIdle }
    var hasOneFreeSlot: Bool { slots.hasOneFreeSlot }
    var runs: [UInt64] { slots.runs }
    func takeSlot() -> Int? { slots.takeSlot() }
    func freeSlot(_ slotIndex: Int) { slots.freeSlot(slotIndex) }
    func handlerIndex(_ name: String) -> Int? { slots.handlerIndex(name) }
}
