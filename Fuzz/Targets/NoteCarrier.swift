// SPDX-License-Identifier: Apache-2.0

/// The smallest library that carries a note: an ELF header, three program headers, a dynamic
/// section, and a table of one symbol.
enum NoteCarrier {
    static func library(note text: [UInt8]) -> [UInt8] {
        let (strings, symbols, hash, dynamic, note) = (232, 240, 288, 304, 384)
        let padded = text + [UInt8](repeating: 0, count: (4 - text.count % 4) % 4)
        var file = LittleEndianBytes()
        file.bytes = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0] + [UInt8](repeating: 0, count: 8)
        file.append(3, as: UInt16.self)
        file.append(machine, as: UInt16.self)
        file.append(1, as: UInt32.self)
        for value in [0, 64, 0] { file.append(value, as: UInt64.self) }
        file.append(0, as: UInt32.self)
        for value in [64, 56, 3, 64, 0, 0] { file.append(value, as: UInt16.self) }
        let end = note + 12 + 8 + padded.count
        file.appendSegment(type: 1, from: 0, count: end, alignment: 4096)
        file.appendSegment(type: 2, from: dynamic, count: 80, alignment: 8)
        file.appendSegment(type: 4, from: note, count: end - note, alignment: 4)
        file.pad(to: strings)
        file.bytes.append(0)
        file.pad(to: symbols)
        file.pad(to: hash)
        // One bucket and one symbol, the empty one.
        for value in [1, 1, 0, 0] { file.append(value, as: UInt32.self) }
        for (tag, value) in [(4, hash), (5, strings), (6, symbols), (10, 1), (0, 0)] {
            file.append(tag, as: UInt64.self)
            file.append(value, as: UInt64.self)
        }
        for value in [7, text.count, 1] { file.append(value, as: UInt32.self) }
        file.bytes += Array("bghost\0\0".utf8) + padded
        return file.bytes
    }

    #if arch(arm64)
        private static let machine = 183
    #else
        private static let machine = 62
    #endif
}

/// Numbers as an ELF file has them.
private struct LittleEndianBytes {
    var bytes: [UInt8] = []

    mutating func append<T: FixedWidthInteger>(_ value: Int, as type: T.Type) {
        withUnsafeBytes(of: T(truncatingIfNeeded: value).littleEndian) {
            bytes.append(contentsOf: $0)
        }
    }

    mutating func pad(to count: Int) {
        bytes += [UInt8](repeating: 0, count: max(0, count - bytes.count))
    }

    /// A program header of a part that lies at the same address as in the file.
    mutating func appendSegment(type: Int, from start: Int, count: Int, alignment: Int) {
        append(type, as: UInt32.self)
        append(4, as: UInt32.self)
        for value in [start, start, start, count, count, alignment] {
            append(value, as: UInt64.self)
        }
    }
}
