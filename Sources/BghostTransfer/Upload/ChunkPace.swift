// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Adapts the chunk size of an upload: large chunks where the server takes them quickly, since each
/// chunk crosses three threads; small ones where they would occupy memory for long.
struct ChunkPace {
    static let bytesMin = 64 << 10
    static let bytesMax = 1 << 20
    /// If the connection takes a chunk in less than this time, nanoseconds, the next one is larger.
    static let quick: UInt64 = 10_000_000

    /// The size limit of the next chunk, bytes.
    private(set) var bytes = 128 << 10
    private var startedAt: MonotonicInstant?

    init() {}

    /// Records that the next chunk is wanted, so the previous one has been taken.
    mutating func started(now: MonotonicInstant) {
        defer { startedAt = now }
        guard let startedAt else { return }
        bytes =
            now.since(startedAt) < Self.quick
            ? min(Self.bytesMax, bytes * 2) : max(Self.bytesMin, bytes / 2)
    }
}
