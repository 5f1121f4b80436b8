// SPDX-License-Identifier: Apache-2.0

/// Splits a stream of bytes into lines of limited length.
///
/// A longer line is split into pieces of that length. The result does not depend on how the stream was
/// divided into reads.
package struct LineSplitter {
    private let bytesMax: Int
    private var rest: [UInt8] = []

    /// - Parameter bytesMax: the maximum length of a line, bytes, at least 1.
    package init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Adds bytes, and calls the closure with each completed line, without its line break.
    package mutating func feed(_ bytes: UnsafeRawBufferPointer, _ line: (String) -> Void) {
        var start = 0
        while let index = Self.lineBreak(in: bytes, from: start) {
            rest.append(contentsOf: bytes[start..<index])
            start = index + 1
            // Emit all of it; a rest would become the start of the next line.
            repeat { emit(line) } while !rest.isEmpty
        }
        rest.append(contentsOf: bytes[start...])
        while rest.count > bytesMax { emit(line) }
    }

    /// The position of the next line break, if there is one.
    ///
    /// It checks eight bytes at a time, because all output of plugins passes here.
    private static func lineBreak(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var offset = start
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // A line break becomes 0.
            let rest = UInt64(littleEndian: word) ^ ones &* UInt64(UInt8(ascii: "\n"))
            // The lowest set bit belongs to the first 0; only bytes above it can be wrong.
            let zeros = (rest &- ones) & ~rest & (ones << 7)
            if zeros != 0 { return offset + zeros.trailingZeroBitCount / 8 }
            offset += 8
        }
        return bytes[offset...].firstIndex(of: UInt8(ascii: "\n"))
    }

    /// Emits a last line without a line break.
    package mutating func finish(_ line: (String) -> Void) {
        while !rest.isEmpty { emit(line) }
    }

    private mutating func emit(_ line: (String) -> Void) {
        let cut = min(rest.count, bytesMax)
        line(String(decoding: rest[..<cut], as: UTF8.self))
        rest.removeFirst(cut)
    }
}
