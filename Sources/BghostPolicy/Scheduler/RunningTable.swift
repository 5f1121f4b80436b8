// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

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
        /// The partition of the fleet in which its request lives; `nil` for others.
        var partition: PartitionID?
        /// Whether this host has lost that partition since.
        var isFenced = false
    }

    private var slots: [Running?] = []
    private var free: [Int] = []

    var count: Int { slots.count - free.count }

    mutating func add(_ running: Running) -> RunHandle {
        if let index = free.popLast() {
            slots[index] = running
            return RunHandle(index: index)
        }
        slots.append(running)
        return RunHandle(index: slots.count - 1)
    }

    /// A run in progress; `nil` if it has ended.
    subscript(handle: RunHandle) -> Running? { slots[handle.index] }

    mutating func remove(_ handle: RunHandle) -> Running? {
        guard let running = slots[handle.index] else { return nil }
        slots[handle.index] = nil
        free.append(handle.index)
        return running
    }

    /// Marks the runs of a partition that this host has lost, and returns them.
    mutating func fence(_ partition: PartitionID) -> [RunHandle] {
        let fenced = slots.indices.filter { slots[$0]?.partition == partition }
        for index in fenced {
            slots[index]?.partition = nil
            slots[index]?.isFenced = true
        }
        return fenced.map { RunHandle(index: $0) }
    }

    /// All runs in progress.
    var all: [(handle: RunHandle, running: Running)] {
        slots.indices.compactMap { index in
            slots[index].map { (RunHandle(index: index), $0) }
        }
    }
}
