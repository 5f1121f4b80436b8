// SPDX-License-Identifier: Apache-2.0

/// The first and the last lines that a run printed.
///
/// The first ones tell how it began, the last ones how it ended. The last lines are in two buffers,
/// of which the older is dropped as a whole, so that a flood of lines copies no bytes.
package struct OutputTail: Sendable {
    /// The most bytes of the first lines.
    static let headMax = 16 << 10
    /// The most bytes of the last lines; the rest is for the line between them.
    static let tailMax = RunDetails.outputBytesMax - headMax - 64

    private var head: [UInt8] = []
    /// Whether a line did not fit into the head.
    private var isHeadFull = false
    private var older: [UInt8] = []
    private var newer: [UInt8] = []
    /// The bytes after the head that are not kept.
    private var dropped = 0

    package init() {}

    /// The number of bytes that are kept.
    package var count: Int { head.count + older.count + newer.count }

    package mutating func add(_ line: String) {
        let bytes = line.utf8
        if !isHeadFull, head.count + bytes.count < Self.headMax {
            head.append(contentsOf: bytes)
            head.append(UInt8(ascii: "\n"))
            return
        }
        isHeadFull = true
        newer.append(contentsOf: bytes)
        newer.append(UInt8(ascii: "\n"))
        guard newer.count >= Self.tailMax else { return }
        dropped += older.count
        older = newer
        newer = []
    }

    /// The first lines, a line that counts what is missing, and the last complete lines; a single line
    /// that is too long loses its beginning.
    package var text: String {
        let tail = older + newer
        let start = Self.start(of: tail)
        let missing = dropped + start
        var text = String(decoding: head, as: UTF8.self)
        if missing > 0 { text += "[\(missing) bytes are left out here]\n" }
        return text + String(decoding: tail[start...], as: UTF8.self)
    }

    private static func start(of bytes: [UInt8]) -> Int {
        guard bytes.count > tailMax else { return 0 }
        let first = bytes.count - tailMax
        let rest = bytes[first...]
        if bytes[first - 1] == UInt8(ascii: "\n") { return first }
        if let end = rest.dropLast().firstIndex(of: UInt8(ascii: "\n")) { return end + 1 }
        // Do not start in the middle of a UTF-8 character.
        return rest.firstIndex { $0 & 0xC0 != 0x80 } ?? bytes.endIndex
    }
}
