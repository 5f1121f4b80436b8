// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// A constant delay that spreads the starts of a schedule over the machines of a fleet.
///
/// Scheduled times do not move; only the start is later by the offset. Misfires are computed from them, and a
/// restart within the window neither skips nor repeats a time.
package struct StableOffset: Equatable, Sendable {
    /// Never negative.
    let nanoseconds: Int64

    /// No delay.
    static let none = StableOffset(nanoseconds: 0)

    private init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The offset of an identifier on a machine, at least 0 and below the window, nanoseconds.
    ///
    /// It must be the same in each version of this program; otherwise an update would move the starts of the
    /// whole fleet. The hash is therefore implemented here: that of the standard library has a different seed
    /// in each process.
    init(machine: String, identifier: String, window: Int64) {
        guard window > 0 else {
            self = .none
            return
        }
        // UTF-8 text never contains 0xFF, so ("ab", "c") and ("a", "bc") differ.
        let hash = sipHash13(Array(machine.utf8) + [0xFF] + Array(identifier.utf8))
        nanoseconds = Int64(hash % UInt64(window))
    }

    /// The same offset with a further delay, nanoseconds.
    func adding(_ delay: Int64) -> StableOffset {
        StableOffset(nanoseconds: nanoseconds.addingClamped(delay))
    }

    /// The start that belongs to a scheduled time; `nil` if it is beyond 64 bits.
    package func start(of time: Int64) -> Int64? {
        let (start, overflow) = time.addingReportingOverflow(nanoseconds)
        return overflow ? nil : start
    }

    /// The latest scheduled time whose start is not after an instant: all up to it have started.
    package func scheduledTime(_ instant: Int64) -> Int64 {
        let (time, overflow) = instant.subtractingReportingOverflow(nanoseconds)
        return overflow ? Int64.min : time
    }
}

/// SipHash-1-3 with a key of zeros, after Aumasson and Bernstein.
package func sipHash13(_ bytes: [UInt8]) -> UInt64 {
    var state = SipState()
    var word: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
        word |= UInt64(byte) &<< UInt64(8 * (index % 8))
        guard index % 8 == 7 else { continue }
        state.mix(word)
        word = 0
    }
    state.mix(word | UInt64(bytes.count & 0xFF) &<< 56)
    return state.finish()
}

private struct SipState {
    private var a: UInt64 = 0x736F_6D65_7073_6575
    private var b: UInt64 = 0x646F_7261_6E64_6F6D
    private var c: UInt64 = 0x6C79_6765_6E65_7261
    private var d: UInt64 = 0x7465_6462_7974_6573

    mutating func mix(_ word: UInt64) {
        d ^= word
        round()
        a ^= word
    }

    mutating func finish() -> UInt64 {
        c ^= 0xFF
        for _ in 0..<3 { round() }
        return a ^ b ^ c ^ d
    }

    private mutating func round() {
        a &+= b
        b = rotate(b, 13) ^ a
        a = rotate(a, 32)
        c &+= d
        d = rotate(d, 16) ^ c
        a &+= d
        d = rotate(d, 21) ^ a
        c &+= b
        b = rotate(b, 17) ^ c
        c = rotate(c, 32)
    }

    private func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 {
        word &<< count | word &>> (64 - count)
    }
}
