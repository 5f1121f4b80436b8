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

    /// All runs in progress.
    var all: [(handle: RunHandle, running: Running)] {
        slots.indices.compactMap { index in
            slots[index].map { (RunHandle(index: index), $0) }
        }
    }
}
