// SPDX-License-Identifier: Apache-2.0

internal import BghostCore

/// A run that is under way, as the host sees it.
///
/// It belongs to the host's executor.
///
/// A class, because it is looked at many times in a run's life: each look at a struct of this size
/// would retain and release every text in it.
final class ActiveRun {
    /// What the worker and the plugin know it by: a counter, the slot and the lane.
    ///
    /// 0 is a free slot.
    var number: UInt64 = 0
    var machine: RunMachine
    var record: RunRecord
    /// What the scheduler knows it by.
    let ticket: RunTicket
    /// The index of its task.
    let task: Int
    let parameters: String
    let carrier: Carrier
    /// The deadline that is armed for it; another one in the timer heap is forgotten.
    var armed: UInt64 = 0
    /// Processor time of the worker when it began.
    var cpuAtBegin: Int64 = 0
    /// Counted among the runs for which the reactor is urgent.
    var isBeingStopped = false
    var outputBytes = 0
    var droppedOutput = 0
    /// Whether somebody expired it before its time, which is no fault of its own.
    var isExpirySimulated = false
    /// Whether somebody tries its task out.
    var isTrial = false
    /// When its handler wants to be called again, nanoseconds from its end.
    var retryAfter: UInt64?

    init(
        machine: RunMachine,
        record: RunRecord,
        ticket: RunTicket,
        task: Int,
        parameters: String,
        carrier: Carrier
    ) {
        self.machine = machine
        self.record = record
        self.ticket = ticket
        self.task = task
        self.parameters = parameters
        self.carrier = carrier
    }
}

/// The runs that are under way, in slots that are used again.
///
/// A number names one run only: those of an earlier run in the same slot do not match.
struct RunTable {
    private(set) var slots: [ActiveRun?] = []
    private var free: [Int] = []
    private var counter: UInt64 = 0
    private(set) var count = 0

    private static let slotBits: UInt64 = 14

    static func slot(of number: UInt64) -> Int {
        Int(number >> LaneBits.count & (1 << slotBits - 1))
    }

    /// Adds a run; its number is made from its slot and the lane.
    ///
    /// - Returns: `nil` if the table is full.
    mutating func add(_ run: ActiveRun, lane: Int) -> UInt64? {
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
            counter << (Self.slotBits + LaneBits.count) | UInt64(slot) << LaneBits.count
            | UInt64(lane)
        slots[slot] = run
        slots[slot]?.number = number
        count += 1
        return number
    }

    /// The slot of a number, if that very run is under way.
    func index(of number: UInt64) -> Int? {
        let slot = Self.slot(of: number)
        guard number != 0, slot < slots.count, slots[slot]?.number == number else { return nil }
        return slot
    }

    subscript(index: Int) -> ActiveRun? {
        get { slots[index] }
        _modify { yield &slots[index] }
    }

    mutating func remove(at index: Int) {
        slots[index] = nil
        free.append(index)
        count -= 1
    }

    /// The numbers of all runs.
    var numbers: [UInt64] { slots.compactMap { $0?.number } }
}

/// The numbers of the runs that the scheduler knows by their tickets.
struct TicketTable {
    private var numbers: [UInt64] = []

    /// 0, which is no run's, for a ticket that was never used.
    subscript(ticket: RunTicket) -> UInt64 {
        ticket.index < numbers.count ? numbers[ticket.index] : 0
    }

    mutating func set(_ ticket: RunTicket, _ number: UInt64) {
        while numbers.count <= ticket.index { numbers.append(0) }
        numbers[ticket.index] = number
    }
}

/// How many of a run number's lowest bits are its lane.
enum LaneBits {
    static let count: UInt64 = 10
}
