// SPDX-License-Identifier: Apache-2.0

import BghostBase
import Glibc

/// Random numbers that can be repeated: SplitMix64.
///
/// Give seeds to a test as its `arguments:`, so that a failure names the seed that showed it:
/// `@Test(arguments: SeededGenerator.seeds(8)) func `Holds`(seed: UInt64)`.
package struct SeededGenerator: RandomNumberGenerator, Sendable, CustomStringConvertible {
    /// The seed that it started with.
    package let seed: UInt64
    private var random: SplitMix64

    package init(seed: UInt64) {
        self.seed = seed
        random = SplitMix64(seed: seed)
    }

    package mutating func next() -> UInt64 { random.next() }

    package var description: String { "seed \(seed)" }

    /// The same seeds each time, far apart from one another.
    ///
    /// `BGHOST_MORE_SEEDS=10 make test` looks at ten times as many.
    package static func seeds(_ count: Int) -> [UInt64] {
        let factor = getenv("BGHOST_MORE_SEEDS").flatMap { Int(String(cString: $0)) } ?? 1
        var source = SeededGenerator(seed: 1)
        return (0..<count * max(1, factor)).map { _ in source.next() }
    }
}
