// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into lines of bounded length.
struct LineSplitter {
    private var rest: [UInt8] = []

    /// Takes bytes and hands on each line that they end, without its line break.
    mutating func feed(_ bytes: UnsafeRawBufferPointer, _ line: (String) -> Void) {
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            rest.append(contentsOf: bytes[start..<index])
            start = index + 1
            emit(line)
        }
        rest.append(contentsOf: bytes[start...])
        while rest.count >= HostLimits.outputLineBytesMax { emit(line) }
    }

    /// Hands on a last line that had no line break.
    mutating func finish(_ line: (String) -> Void) {
        if !rest.isEmpty { emit(line) }
    }

    private mutating func emit(_ line: (String) -> Void) {
        let cut = min(rest.count, HostLimits.outputLineBytesMax)
        line(String(decoding: rest[..<cut], as: UTF8.self))
        rest.removeFirst(cut)
    }
}
