// SPDX-License-Identifier: Apache-2.0

/// How large the chunks of an upload are: large where they are taken quickly, since each is handed
/// through three threads; small where they lie in memory for long.
package struct ChunkPace {
    package static let bytesMin = 64 << 10
    package static let bytesMax = 1 << 20
    /// A chunk that is taken sooner than this, nanoseconds, is followed by a larger one.
    package static let quick: UInt64 = 10_000_000

    /// Of the next chunk, at the most.
    package private(set) var bytes = 128 << 10
    private var askedAt: UInt64?

    package init() {}

    /// The next chunk is wanted, so the one before has been taken.
    ///
    /// - Parameter now: monotonic nanoseconds.
    package mutating func asked(now: UInt64) {
        defer { askedAt = now }
        guard let askedAt else { return }
        bytes =
            now &- askedAt < Self.quick
            ? min(Self.bytesMax, bytes * 2) : max(Self.bytesMin, bytes / 2)
    }
}
