// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into lines of bounded length.
///
/// A longer line comes in pieces, of which all but the last have that length; how the stream was cut
/// into reads makes no difference.
package struct LineSplitter {
    private let bytesMax: Int
    private var rest: [UInt8] = []

    /// - Parameter bytesMax: the longest line, 1 or more.
    package init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Takes bytes and hands on each line that they end, without its line break.
    package mutating func feed(_ bytes: UnsafeRawBufferPointer, _ line: (String) -> Void) {
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            rest.append(contentsOf: bytes[start..<index])
            start = index + 1
            // All of it: what stayed would stand before the next line as if it were a part of that.
            repeat { emit(line) } while !rest.isEmpty
        }
        rest.append(contentsOf: bytes[start...])
        while rest.count > bytesMax { emit(line) }
    }

    /// Hands on a last line that had no line break.
    package mutating func finish(_ line: (String) -> Void) {
        while !rest.isEmpty { emit(line) }
    }

    private mutating func emit(_ line: (String) -> Void) {
        let cut = min(rest.count, bytesMax)
        line(String(decoding: rest[..<cut], as: UTF8.self))
        rest.removeFirst(cut)
    }
}
