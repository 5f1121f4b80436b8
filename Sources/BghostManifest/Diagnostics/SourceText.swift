// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// A source text, kept so that diagnostics can refer to it.
struct SourceText: Sendable {
    let file: String
    let bytes: [UInt8]
    private let lineStarts: [Int]
    /// The number of characters before each block of bytes, so that the cost of a column does not depend on
    /// the length of the line.
    private let charactersBefore: [Int]

    private static let blockBytes = 1024
    private static let newline = UInt8(ascii: "\n")

    init(file: String, bytes: [UInt8]) {
        self.file = file
        self.bytes = bytes
        var lineStarts = [0]
        var charactersBefore: [Int] = []
        var characters = 0
        for (index, byte) in bytes.enumerated() {
            if index % Self.blockBytes == 0 { charactersBefore.append(characters) }
            if Self.beginsCharacter(byte) { characters += 1 }
            if byte == Self.newline { lineStarts.append(index + 1) }
        }
        charactersBefore.append(characters)
        self.lineStarts = lineStarts
        self.charactersBefore = charactersBefore
    }

    /// The location of a byte; columns count Unicode scalars.
    func location(at offset: Int) -> SourceLocation {
        let offset = max(0, min(offset, bytes.count))
        let line = lineIndex(at: offset)
        let column = characters(before: offset) - characters(before: lineStarts[line])
        return SourceLocation(file: file, line: line + 1, column: column + 1)
    }

    /// The bytes of the line that contains a byte, without its line break.
    func lineRange(at offset: Int) -> Range<Int> {
        let line = lineIndex(at: max(0, min(offset, bytes.count)))
        let start = lineStarts[line]
        guard line + 1 < lineStarts.count else { return start..<bytes.count }
        let end = lineStarts[line + 1] - 1
        let isCRLF = end > start && bytes[end - 1] == UInt8(ascii: "\r")
        return start..<(isCRLF ? end - 1 : end)
    }

    private func lineIndex(at offset: Int) -> Int {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }

    private func characters(before offset: Int) -> Int {
        let block = min(offset / Self.blockBytes, charactersBefore.count - 1)
        let rest = bytes[min(block * Self.blockBytes, offset)..<offset]
        return charactersBefore[block] + rest.count(where: Self.beginsCharacter)
    }

    private static func beginsCharacter(_ byte: UInt8) -> Bool { byte & 0xC0 != 0x80 }
}
