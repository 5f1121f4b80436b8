// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// When a pending request can start, according to its gates.
package struct StartOutlook: Equatable, Sendable {
    /// The earliest start, Unix nanoseconds; `nil` if the request cannot start any more.
    package var earliest: Int64?
    /// Whether the request starts at `earliest` if nothing else changes: all unmet gates unblock by
    /// themselves at a known time.
    package var isCertain: Bool
    /// Whether it waits for an exceptional gate, such as a throttle.
    package var needsAttention: Bool

    package init(earliest: Int64?, isCertain: Bool, needsAttention: Bool) {
        self.earliest = earliest
        self.isCertain = isCertain
        self.needsAttention = needsAttention
    }

    /// - Parameters:
    ///   - gates: all gates of the request.
    ///   - latest: its latest begin date, Unix nanoseconds.
    ///   - at: the current time, Unix nanoseconds.
    package init(gates: [Gate], latest: Int64?, at: Int64) {
        let closed = gates.filter { !$0.isOpen }
        needsAttention = closed.contains { $0.kind.isExceptional }
        earliest = nil
        isCertain = false
        guard closed.allSatisfy({ !$0.condition.isEmpty }) else { return }
        let start = closed.compactMap(\.until).reduce(at, max)
        if let latest, latest < start { return }
        earliest = start
        isCertain = closed.allSatisfy { $0.until != nil }
    }
}
