// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostWire

/// What carries runs to a plugin: a worker process, or the daemon itself.
///
/// It has as many lanes as it may have runs at once.
///
/// Carriers belong to the host's executor.
class Carrier {
    enum State {
        /// Not yet able to take runs; those that it has wait.
        case loading
        case live
        /// Takes no more runs and ends when it has none.
        case retiring
        /// Told to finish, or killed; its end is awaited.
        case ending
        case gone
    }

    /// A fetch under way for one of its runs.
    struct OpenFetch {
        let run: UInt64
        let task: Task<Void, Never>
    }

    /// A wait for the end of a transfer, for one of its runs.
    struct OpenTransferWait {
        let run: UInt64
        let transfer: RunID
        let task: Task<Void, Never>
        /// Whether the run has been told to stop, or has ended.
        var isLetGo = false
        /// Whether the end has been sent, and the plugin has not said that it has it.
        var isHandedOut = false
    }

    /// A run by its names.
    struct PastRun {
        let number: UInt64
        let id: RunID
        let task: String
    }

    /// The run that each lane had last: what its handler says after its end is still its own.
    var lastOfLane: [PastRun?]
    /// Grows with each carrier of this host; never used again.
    let serial: UInt32
    let plugin: PluginSlot
    var state = State.loading
    /// The number of the run in each lane, or 0.
    var lanes: [UInt64]
    /// Lanes whose run is complete while its handler has not let go of it.
    var unreleased = 0
    /// Whether the handler has let go of the run in each lane.
    var hasReleased: [Bool]
    /// Lanes that are free.
    private(set) var freeLanes: [Int]
    var handlers: [Ready.Handler] = []
    /// How many of its runs have ended.
    var runsCarried = 0
    /// Calls that have no reply yet.
    var openCalls = 0
    /// Fetches by the number of their call.
    var fetches: [UInt64: OpenFetch] = [:]
    /// Waits for transfers by the number of their call.
    var transferWaits: [UInt64: OpenTransferWait] = [:]
    /// The monotonic time of this carrier's own timer; `.max` is none.
    var deadline: UInt64 = .max
    /// When its newest run began.
    var begunAt: UInt64 = 0
    /// Whether its last run was so short that the next one is best begun on the reactor's processor.
    var isQuick = false
    /// Whether it is kept there now.
    var isKept = false
    /// Whether it stands in its plugin's list of carriers with a free lane.
    var isListed = false

    init(serial: UInt32, plugin: PluginSlot, lanes: Int) {
        self.serial = serial
        self.plugin = plugin
        self.lanes = [UInt64](repeating: 0, count: lanes)
        hasReleased = [Bool](repeating: false, count: lanes)
        lastOfLane = [PastRun?](repeating: nil, count: lanes)
        freeLanes = Array((0..<lanes).reversed())
    }

    var isIdle: Bool { freeLanes.count == lanes.count }

    /// Whether the next run takes its last lane.
    var hasOneFreeLane: Bool { freeLanes.count <= 1 }

    func takeLane() -> Int? { freeLanes.popLast() }

    func freeLane(_ lane: Int) {
        lanes[lane] = 0
        hasReleased[lane] = false
        freeLanes.append(lane)
    }

    /// The runs that it has.
    var runs: [UInt64] { lanes.filter { $0 != 0 } }

    /// The process, where there is one.
    var pid: Int32? { nil }

    /// Whether it is a process of its own.
    var isProcess: Bool { false }

    func handlerIndex(_ name: String) -> Int? {
        // Functions have one handler, whatever the task calls it.
        plugin.isFunction ? 0 : handlers.firstIndex { $0.name == name }
    }

    /// Hands a run over.
    ///
    /// `false` if it cannot be carried.
    func start(_ start: Start) -> Bool { false }

    func cancel(_ cancel: Cancel) {}

    func reply(_ reply: Reply) {}

    /// Has its threads run on one processor.
    ///
    /// - Returns: `false` if they cannot be placed.
    func keep(on core: ProcessorSet, insteadOf everywhere: ProcessorSet) -> Bool { false }

    func letGo(from core: ProcessorSet, to everywhere: ProcessorSet) {}

    /// Ends it, and whatever runs in it, without asking.
    func kill() {}
}
