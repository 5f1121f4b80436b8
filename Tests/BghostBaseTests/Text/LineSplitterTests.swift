// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

@Suite struct LineSplitterTests {
    /// The same lines, found byte by byte.
    private func lines(of reads: [[UInt8]], bytesMax: Int) -> [String] {
        var lines: [String] = []
        var rest: [UInt8] = []
        func cut() {
            let count = min(rest.count, bytesMax)
            lines.append(String(decoding: rest[..<count], as: UTF8.self))
            rest.removeFirst(count)
        }
        for read in reads {
            for byte in read {
                guard byte == UInt8(ascii: "\n") else {
                    rest.append(byte)
                    continue
                }
                repeat { cut() } while !rest.isEmpty
            }
            while rest.count > bytesMax { cut() }
        }
        while !rest.isEmpty { cut() }
        return lines
    }

    @Test(arguments: UInt64(1)...4)
    func `The splitter cuts lines where a byte by byte search does`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        // Those that differ from a line break in one bit or by one, and its own.
        let bytes: [UInt8] = [9, 10, 10, 11, 0x8A, 0x0B, 0, 0xFF, UInt8(ascii: "a")]
        for _ in 0..<500 {
            let bytesMax = Int.random(in: 1...40, using: &random)
            let reads = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                (0..<Int.random(in: 0...70, using: &random)).map { _ in
                    bytes[Int.random(in: bytes.indices, using: &random)]
                }
            }
            var splitter = LineSplitter(bytesMax: bytesMax)
            var found: [String] = []
            for read in reads {
                read.withUnsafeBytes { splitter.feed($0) { found.append($0) } }
            }
            splitter.finish { found.append($0) }
            #expect(found == lines(of: reads, bytesMax: bytesMax), "\(reads), \(bytesMax)")
        }
    }
}
