// SPDX-License-Identifier: Apache-2.0

/// The last lines that a run printed.
///
/// It has two buffers and drops the older one as a whole, so that a flood of lines copies no bytes.
package struct OutputTail: Sendable {
    private var older: [UInt8] = []
    private var newer: [UInt8] = []

    package init() {}

    /// The number of bytes that are kept.
    package var count: Int { older.count + newer.count }

    package mutating func add(_ line: String) {
        newer.append(contentsOf: line.utf8)
        newer.append(UInt8(ascii: "\n"))
        guard newer.count >= RunDetails.outputBytesMax else { return }
        older = newer
        newer = []
    }

    /// The last complete lines that fit; a single line that is too long loses its beginning.
    package var text: String {
        let bytes = older + newer
        guard bytes.count > RunDetails.outputBytesMax else {
            return String(decoding: bytes, as: UTF8.self)
        }
        let first = bytes.count - RunDetails.outputBytesMax
        let rest = bytes[first...]
        if bytes[first - 1] == UInt8(ascii: "\n") { return String(decoding: rest, as: UTF8.self) }
        if let end = rest.dropLast().firstIndex(of: UInt8(ascii: "\n")) {
            return String(decoding: bytes[(end + 1)...], as: UTF8.self)
        }
        // Do not start in the middle of a UTF-8 character.
        let character = rest.firstIndex { $0 & 0xC0 != 0x80 } ?? bytes.endIndex
        return String(decoding: bytes[character...], as: UTF8.self)
    }
}
