// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The states of tasks by entry, and which of them have throttle points.
struct TaskMemories: Sendable {
    private(set) var all: [Int: TaskMemory] = [:]
    /// The entries that had points when their state changed last: by now the points may have expired.
    private(set) var throttled: Set<Int> = []

    subscript(entry: Int) -> TaskMemory? {
        get { all[entry] }
        set {
            all[entry] = newValue
            if newValue?.throttle.points ?? 0 > 0 {
                throttled.insert(entry)
            } else {
                throttled.remove(entry)
            }
        }
    }

    mutating func removeValue(forKey entry: Int) -> TaskMemory? {
        throttled.remove(entry)
        return all.removeValue(forKey: entry)
    }
}
