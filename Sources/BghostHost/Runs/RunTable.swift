// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostWire

/// A running run, with the state that the host keeps for it.
///
/// Use it only on the host's actor. It is a class because the host accesses it often: each access
/// to a struct of this size would retain and release all its strings.
final class ActiveRun {
    /// The number that the worker and the plugin use.
    ///
    /// It consists of a counter, the index in the table and the executor's slot. It is 0 until the
    /// run is added to the table.
    var number: UInt64 = 0
    var machine: RunMachine
    var record: RunRecord
    /// The number that the scheduler uses.
    let handle: RunHandle
    /// The index of the task in the catalog.
    let task: Int
    let parameters: String
    let executor: any RunExecutor
    /// The armed deadline; other deadlines of the run in the timer heap are ignored.
    var armed: MonotonicInstant = .zero
    /// Processor time of the worker at the start of the run.
    var cpuAtBegin: Int64 = 0
    /// Processor time of the worker's child processes at the start of the run.
    var childrenCPUAtBegin: Int64 = 0
    /// The run's share of the worker's processor time, if the worker has several slots.
    var cpuShare: Int64 = 0
    /// Whether the run counts among those for which the reactor's priority is raised.
    var isBeingStopped = false
    /// What it used, as far as it was measured; the pool of its executor writes it.
    var usage = RunUsage()
    var droppedOutput = 0
    /// The end of its output.
    private(set) var output = OutputTail()
    /// The crash of its worker, or the stacks of a run that did not stop.
    var crash = CrashReport()
    /// What its handler says that it failed with.
    var error: RunError?
    /// Whether an operator simulated its expiry; the scheduler does not throttle the task for that.
    var isExpirySimulated = false
    /// Whether it is a manual run.
    var isManual = false
    /// When its request could start, Unix nanoseconds.
    var due: Int64 = 0
    /// When the scheduler dispatched it, Unix nanoseconds.
    var dispatchedAt: Int64 = 0
    /// Whether its executor was not ready then.
    var isCold = false
    /// The number of equal fetches in this run, by a hash of method and URL.
    private var fetchCounts: [Int: Int] = [:]
    /// The delay until the next attempt that its handler requested, in nanoseconds from its end.
    var retryAfter: UInt64?
    private let memory: HeldBytes
    /// The bytes that it holds of its plugin's memory limit.
    private var heldBytes = 0

    init(
        machine: RunMachine,
        record: RunRecord,
        handle: RunHandle,
        task: Int,
        parameters: String,
        executor: any RunExecutor
    ) {
        self.machine = machine
        self.record = record
        self.handle = handle
        self.task = task
        self.parameters = parameters
        self.executor = executor
        memory = executor.plugin.memory
        hold(Self.cost + parameters.utf8.count)
    }

    deinit { memory.release(heldBytes) }

    /// Overhead of a run in bytes, without its strings.
    private static let cost = 4096

    /// Counts bytes that the daemon keeps until the run has ended.
    func hold(_ bytes: Int) {
        guard bytes != 0 else { return }
        memory.add(bytes)
        heldBytes += bytes
    }

    func keepOutput(_ line: String) {
        let before = output.count
        output.add(line)
        hold(output.count - before)
    }

    /// Identifies a fetch among equal ones, for its idempotency key: the request's ID and a count.
    ///
    /// The result is `nil` if the run has made too many different fetches to count them.
    func occasion(of method: String, _ url: String) -> String? {
        var hasher = Hasher()
        hasher.combine(method)
        hasher.combine(url)
        let key = hasher.finalize()
        guard fetchCounts.count < HostLimits.fetchesCountedMax || fetchCounts[key] != nil else {
            return nil
        }
        let count = (fetchCounts[key] ?? 0) + 1
        if count == 1 { hold(64) }
        fetchCounts[key] = count
        return "\(record.request) \(count)"
    }
}

/// The running runs, in reusable table entries.
///
/// A number identifies one run only: the number of an earlier run in the same entry does not match.
/// `RunSupervisor` adds and removes runs; others look them up. Use it on the reactor's thread only.
final class RunTable {
    private(set) var slots: [ActiveRun?] = []
    private var free: [Int] = []
    private var counter: UInt64 = 0
    private(set) var count = 0

    private static let slotBits: UInt64 = 14

    static func slot(of number: UInt64) -> Int {
        Int(number >> WorkerSlotBits.count & (1 << slotBits - 1))
    }

    /// Adds a run and derives its number from the table entry and the executor's slot.
    ///
    /// - Returns: `nil` if the table is full.
    func add(_ run: ActiveRun, slotIndex: Int) -> UInt64? {
        guard count < HostLimits.runsMax else { return nil }
        let slot: Int
        if let freed = free.popLast() {
            slot = freed
        } else {
            slot = slots.count
            slots.append(nil)
        }
        counter += 1
        let number =
            counter << (Self.slotBits + WorkerSlotBits.count) | UInt64(slot) << WorkerSlotBits.count
            | UInt64(slotIndex)
        slots[slot] = run
        slots[slot]?.number = number
        count += 1
        return number
    }

    /// The index of the run with this number; `nil` if that run has ended.
    func index(of number: UInt64) -> Int? {
        let slot = Self.slot(of: number)
        guard number != 0, slot < slots.count, slots[slot]?.number == number else { return nil }
        return slot
    }

    /// The run with this number; `nil` if it has ended.
    func run(_ number: UInt64) -> ActiveRun? { index(of: number).flatMap { slots[$0] } }

    subscript(index: Int) -> ActiveRun? { slots[index] }

    func remove(at index: Int) {
        slots[index] = nil
        free.append(index)
        count -= 1
    }

    /// The numbers of all runs.
    var numbers: [UInt64] { slots.compactMap { $0?.number } }

    /// The run with this id; `nil` if it is not running.
    ///
    /// It costs O(n) in the running runs.
    func run(id: RunID) -> ActiveRun? {
        slots.lazy.compactMap { $0 }.first { $0.record.id == id }
    }

    /// Refuses a frame about a run that has a slot but was not yet sent to the executor.
    ///
    /// Run numbers are easy to guess, so a worker could send frames for a run before its start.
    func requireStarted(_ number: UInt64, in executor: any RunExecutor) throws(WireError) {
        // A run that is no longer in the table had started.
        guard let run = run(number) else { return }
        if run.machine.beganAt == nil { throw .wrongState }
        if executor.isStartUnsent(number) { throw .wrongState }
    }

    /// The records of all runs, with their use until now.
    func records(now: MonotonicInstant) -> [RunRecord] {
        slots.compactMap { run in
            guard let run else { return nil }
            var record = run.record
            record.usage = run.usage
            record.duration = run.machine.beganAt.map { Duration(nanoseconds: now.since($0)) }
            return record
        }
    }
}

/// The run numbers by the scheduler's tickets.
struct RunNumberTable {
    private var numbers: [UInt64] = []

    /// The number of the run; 0 for a handle that was never used.
    subscript(handle: RunHandle) -> UInt64 {
        handle.index < numbers.count ? numbers[handle.index] : 0
    }

    mutating func set(_ handle: RunHandle, _ number: UInt64) {
        while numbers.count <= handle.index { numbers.append(0) }
        numbers[handle.index] = number
    }
}

/// The number of low bits of a run number that contain the executor's slot.
enum WorkerSlotBits {
    static let count: UInt64 = 10
}
