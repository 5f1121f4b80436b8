// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The runs in progress.
struct RunningTable: Sendable {
    struct Running: Sendable {
        let run: RunID
        let request: Request
        /// The index of its entry in the index of requests.
        let entry: Int
        /// The index of its task.
        let task: Int
        /// Unix nanoseconds.
        let begunAt: Int64
    }

    private var slots: [Running?] = []
    private var free: [Int] = []

    var count: Int { slots.count - free.count }

    mutating func add(_ running: Running) -> RunTicket {
        if let index = free.popLast() {
            slots[index] = running
            return RunTicket(index: index)
        }
        slots.append(running)
        return RunTicket(index: slots.count - 1)
    }

    /// A run in progress; `nil` if it has ended.
    subscript(ticket: RunTicket) -> Running? { slots[ticket.index] }

    mutating func remove(_ ticket: RunTicket) -> Running? {
        guard let running = slots[ticket.index] else { return nil }
        slots[ticket.index] = nil
        free.append(ticket.index)
        return running
    }

    /// All runs in progress.
    var all: [(ticket: RunTicket, running: Running)] {
        slots.indices.compactMap { index in
            slots[index].map { (RunTicket(index: index), $0) }
        }
    }
}
