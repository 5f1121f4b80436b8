// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

@Suite struct RunIDTests {
    @Test(arguments: [
        (RunID(high: 0, low: 0), "00000000000000000000000000"),
        (RunID(high: 0, low: 31), "0000000000000000000000000Z"),
        (RunID(high: 0, low: 32), "00000000000000000000000010"),
        (RunID(high: 1, low: 0), "0000000000000G000000000000"),
        (RunID(high: .max, low: .max), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
        // The example of the ULID specification: 1469922850259 ms.
        (
            RunID(high: 0x0156_3E3A_B5D3 << 16 | 0xD676, low: 0x4C61_EFB9_9302_BD5B),
            "01ARZ3NDEKTSV4RRFFQ69G5FAV"
        ),
    ])
    func `Is written as`(id: RunID, text: String) {
        #expect(id.description == text)
        #expect(RunID(text) == id)
        #expect(RunID(text.lowercased()) == id)
    }

    @Test(arguments: [
        "", "0", "0000000000000000000000000", "000000000000000000000000000",
        // Over 128 bits.
        "80000000000000000000000000", "ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
        // Letters that the alphabet leaves out.
        "0000000000000000000000000I", "0000000000000000000000000L", "0000000000000000000000000O",
        "0000000000000000000000000U", "0000000000000000000000000u",
        "0000000000000000000000000 ", "-0000000000000000000000000", "0000000000000000000000000{",
        "0000000000000000000000000@", "0000000000000000000000000\u{0}",
        // 26 characters of more bytes, and 26 bytes of fewer characters.
        "0000000000000000000000000é", "000000000000000000000000é",
    ])
    func `Is not read`(text: String) {
        #expect(RunID(text) == nil)
    }

    @Test(arguments: SeededGenerator.seeds(4))
    func `Texts sort as the IDs do`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ids = (0..<1_000).map { _ in RunID(high: random.next(), low: random.next()) }
        #expect(ids.sorted().map(\.description) == ids.map(\.description).sorted())
        #expect(ids.map { RunID($0.description) } == ids)
    }

    @Test func `Grows within one millisecond`() {
        var source = RunIDSource()
        var random = SeededGenerator(seed: 1)
        let ids = (0..<10_000).map { _ in source.next(unixMilliseconds: 5) { random.next() } }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
        #expect(ids.allSatisfy { $0.high >> 16 == 5 })
    }

    @Test func `Grows when the clock goes back`() {
        var source = RunIDSource()
        var random = SeededGenerator(seed: 2)
        let clock: [UInt64] = [1_000, 999, 0, 1_000, 1_001, 5, 1_001, 1_002]
        let ids = clock.map { source.next(unixMilliseconds: $0) { random.next() } }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
        let stamps = ids.map { $0.high >> 16 }
        #expect(stamps == [1_000, 1_000, 1_000, 1_000, 1_001, 1_001, 1_001, 1_002])
    }

    @Test func `Grows when the random bits are used up`() {
        var source = RunIDSource()
        let first = source.next(unixMilliseconds: 7) { .max }
        let second = source.next(unixMilliseconds: 7) { .max }
        #expect(first == RunID(high: 7 << 16 | 0xFFFF, low: .max))
        #expect(second == RunID(high: 8 << 16, low: 0))
    }

    @Test func `Takes only the lower 48 bits of the clock`() {
        var source = RunIDSource()
        let id = source.next(unixMilliseconds: 1 << 48 | 3) { 0 }
        #expect(id.high >> 16 == 3)
    }
}
