// SPDX-License-Identifier: Apache-2.0

/// Chance that can be repeated: SplitMix64.
///
/// Give seeds to a test as its `arguments:`, so that a failure names the seed that showed it:
/// `@Test(arguments: SeededGenerator.seeds(8)) func holds(seed: UInt64)`.
package struct SeededGenerator: RandomNumberGenerator, Sendable, CustomStringConvertible {
    /// What it began with.
    package let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    package var description: String { "seed \(seed)" }

    /// The same seeds each time, far apart from one another.
    package static func seeds(_ count: Int) -> [UInt64] {
        var source = SeededGenerator(seed: 1)
        return (0..<count).map { _ in source.next() }
    }
}
