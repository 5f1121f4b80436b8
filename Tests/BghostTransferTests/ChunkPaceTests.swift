// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
@testable import BghostTransfer
import Testing

/// How much of a file is read for each chunk of its upload.
struct ChunkPaceTests {
    private var now: MonotonicInstant = 1

    @Test mutating func `Chunks grow when the server reads fast, and shrink otherwise`() {
        var pace = ChunkPace()
        pace.started(now: now)
        let first = pace.bytes
        let sizes = [
            step(&pace, ChunkPace.quick - 1, 1), step(&pace, ChunkPace.quick - 1, 40),
            step(&pace, ChunkPace.quick, 1), step(&pace, 1_000_000_000_000, 40),
        ]
        #expect(
            sizes == [2 * first, ChunkPace.bytesMax, ChunkPace.bytesMax / 2, ChunkPace.bytesMin]
        )
    }

    /// What follows when so many chunks are taken after so long each.
    private mutating func step(_ pace: inout ChunkPace, _ time: UInt64, _ times: Int) -> Int {
        for _ in 0..<times {
            now += time
            pace.started(now: now)
        }
        return pace.bytes
    }
}
