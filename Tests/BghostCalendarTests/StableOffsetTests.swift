// SPDX-License-Identifier: Apache-2.0

@testable import BghostCalendar
import BghostTestSupport
import Testing

@Suite(.ownThreads) struct StableOffsetTests {
    /// From CPython, whose `hash(bytes)` is this function with `PYTHONHASHSEED=0`.
    @Test(arguments: [
        ("a", UInt64(4_644_417_185_603_328_019)), ("machine\0x", 13_594_158_764_737_252_638),
        ("0123456", 9_298_437_322_660_316_025), ("01234567", 15_725_952_933_250_624_710),
        ("012345678", 13_230_878_073_547_990_867),
        ("0123456789abcdef0123456789abcdef0123456789abcdef", 3_104_386_201_449_863_175),
    ])
    func `Hashes as published`(text: String, hash: UInt64) {
        #expect(sipHash13(Array(text.utf8)) == hash)
    }

    /// A change of this value would move the starts of every machine on an update.
    @Test func `Stays as it is`() {
        let hour: Int64 = 3_600_000_000_000
        let offset = StableOffset(machine: "4d1f", identifier: "com.example.feed", window: hour)
        #expect(offset.nanoseconds == 749_803_948_105)
    }

    @Test(arguments: [Int64.min, -1, 0, 1])
    func `Is nothing without a window`(window: Int64) {
        #expect(StableOffset(machine: "a", identifier: "b", window: window) == .none)
    }

    @Test func `Tells machine and identifier apart`() {
        let one = StableOffset(machine: "ab", identifier: "c", window: .max)
        #expect(one != StableOffset(machine: "a", identifier: "bc", window: .max))
        #expect(one != StableOffset(machine: "ab", identifier: "d", window: .max))
    }

    @Test func `Spreads machines evenly`() {
        var tenths = [Int](repeating: 0, count: 10)
        for machine in 0..<5000 {
            let offset = StableOffset(machine: "host-\(machine)", identifier: "feed", window: 1000)
            tenths[Int(offset.nanoseconds / 100)] += 1
        }
        #expect(tenths.allSatisfy { (400...600).contains($0) }, "\(tenths)")
    }

    @Test func `Never leaves the range`() {
        let offset = StableOffset(machine: "a", identifier: "b", window: .max)
        #expect(offset.start(of: .max) == nil)
        #expect(offset.scheduledTime(.min) == .min)
        #expect(StableOffset.none.start(of: .max) == .max)
    }
}
