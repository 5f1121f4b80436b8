// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport

/// Makes new inputs of known ones, blindly: what libFuzzer does, without knowing what an input
/// reached.
struct Mutator {
    private var random: SeededGenerator
    private let corpus: [[UInt8]]
    private let words: [[UInt8]]
    private let bytesMax: Int

    init(seed: UInt64, corpus: [[UInt8]], words: [[UInt8]], bytesMax: Int) {
        random = SeededGenerator(seed: seed)
        self.corpus = corpus
        self.words = words
        self.bytesMax = bytesMax
    }

    mutating func next() -> [UInt8] {
        var bytes = corpus.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...6, using: &random) { change(&bytes) }
        return Array(bytes.prefix(bytesMax))
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let count = min(bytes.count - place, Int.random(in: 1...16, using: &random))
        let part = place..<place + count
        switch Int.random(in: 0..<9, using: &random) {
        case 0 where count > 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where count > 0: bytes[place] = .random(in: 0...255, using: &random)
        case 2: bytes.removeSubrange(part)
        case 3: bytes.insert(contentsOf: Array(bytes[part]), at: place)
        case 4: bytes.insert(contentsOf: words.randomElement(using: &random) ?? [0], at: place)
        case 5: bytes.replaceSubrange(part, with: words.randomElement(using: &random) ?? [0xFF])
        case 6: write(Self.numbers.randomElement(using: &random) ?? 0, over: &bytes, at: place)
        case 7: bytes.removeSubrange(place...)
        default:
            let other = corpus.randomElement(using: &random) ?? []
            let from = Int.random(in: 0...other.count, using: &random)
            bytes.replaceSubrange(place..., with: other[from...])
        }
    }

    private mutating func write(_ number: UInt64, over bytes: inout [UInt8], at place: Int) {
        let width = [1, 2, 4, 8].randomElement(using: &random) ?? 8
        for index in 0..<width where place + index < bytes.count {
            bytes[place + index] = UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))
        }
    }

    /// On which arithmetic could overflow, or a loop run long.
    private static let numbers: [UInt64] = [
        0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
        0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000, .max, .max - 7, 1 << 46,
    ]
}
