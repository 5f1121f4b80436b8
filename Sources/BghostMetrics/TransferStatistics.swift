// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// What the daemon counts of transfers since its start, of all plugins together.
///
/// It is a pure value; an event costs the same whatever was counted before.
package struct TransferStatistics: Equatable, Sendable {
    /// How a transfer ended.
    package enum End: String, CaseIterable, Sendable {
        case done
        case failed
        case cancelled
    }

    package enum Direction: String, CaseIterable, Sendable {
        case received
        case sent
    }

    /// The number of transfers that have not ended.
    package private(set) var unended = 0
    private var ends: [End: UInt64] = [:]
    private var bytes: [Direction: UInt64] = [:]

    package init() {}

    package func count(_ end: End) -> UInt64 { ends[end] ?? 0 }

    package func bytes(_ direction: Direction) -> UInt64 { bytes[direction] ?? 0 }

    /// Counts a transfer that was accepted, or that an earlier daemon left.
    package mutating func began() { unended += 1 }

    /// Takes back a transfer that ``began()`` counted, because it could not be stored.
    package mutating func refused() { unended -= 1 }

    /// Counts the end of a transfer that ``began()`` counted.
    package mutating func ended(_ end: End) {
        unended -= 1
        ends[end, default: 0] += 1
    }

    /// Counts the bytes that an attempt has moved, those that it will move again too.
    package mutating func moved(_ direction: Direction, _ count: UInt64) {
        bytes[direction] = bytes(direction).addingClamped(count)
    }
}
