// SPDX-License-Identifier: Apache-2.0

/// Callbacks by number; each is called at most once.
///
/// A number is a Sendable name for a callback that must stay on its thread. Adding and taking one costs
/// O(1); the memory of taken ones is used again.
struct CompletionTable {
    private var completions: [CommitQueue.Completion?] = []
    /// When each was added; the entries of the array are used again.
    private var numbers: [UInt64] = []
    private var free: [Int] = []
    private var last: UInt64 = 0

    struct Number: Sendable {
        fileprivate let index: Int
        fileprivate let number: UInt64
    }

    mutating func add(_ completion: @escaping CommitQueue.Completion) -> Number {
        last += 1
        guard let index = free.popLast() else {
            completions.append(completion)
            numbers.append(last)
            return Number(index: completions.count - 1, number: last)
        }
        completions[index] = completion
        numbers[index] = last
        return Number(index: index, number: last)
    }

    /// Removes a callback; `nil` if it was taken before.
    mutating func take(_ number: Number) -> CommitQueue.Completion? {
        guard numbers[number.index] == number.number, let completion = completions[number.index]
        else { return nil }
        completions[number.index] = nil
        free.append(number.index)
        return completion
    }

    /// Removes all callbacks, and returns them in the order in which they were added.
    mutating func takeAll() -> [CommitQueue.Completion] {
        let waiting = completions.indices.filter { completions[$0] != nil }
            .sorted { numbers[$0] < numbers[$1] }
        return waiting.compactMap { take(Number(index: $0, number: numbers[$0])) }
    }
}
