// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Several lines of the journal, stored in one row: a row for each line would be half the cost of a
/// transaction.
///
/// A line consists of a byte that tells which parts it has, the length of its event, the event, and
/// the parts: ids of 16 bytes, texts with a length of four bytes before them. All numbers are
/// little-endian.
struct JournalPage {
    /// A page is written when it reaches one of these limits, so that old lines can be deleted in
    /// small steps.
    static let bytesMax = 4096
    static let linesMax = 64

    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    private enum Part {
        static let request: UInt8 = 1
        static let task: UInt8 = 2
        static let run: UInt8 = 4
        static let detail: UInt8 = 8
    }

    var isFull: Bool { count >= Self.linesMax || bytes.count >= Self.bytesMax }

    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        count = 0
    }

    mutating func append(
        _ event: String,
        request: RunID?,
        task: String?,
        run: RunID?,
        detail: String?
    ) {
        count += 1
        var parts: UInt8 = request == nil ? 0 : Part.request
        if task != nil { parts |= Part.task }
        if run != nil { parts |= Part.run }
        if detail != nil { parts |= Part.detail }
        bytes.append(parts)
        // Events are words of this program, shorter than 256 bytes.
        bytes.append(UInt8(truncatingIfNeeded: event.utf8.count))
        bytes.append(contentsOf: event.utf8)
        if let request { append(request) }
        if let task { append(task) }
        if let run { append(run) }
        if let detail { append(detail) }
    }

    private mutating func append(_ id: RunID) {
        withUnsafeBytes(of: (id.high.littleEndian, id.low.littleEndian)) {
            bytes.append(contentsOf: $0)
        }
    }

    private mutating func append(_ text: String) {
        withUnsafeBytes(of: UInt32(clamping: text.utf8.count).littleEndian) {
            bytes.append(contentsOf: $0)
        }
        bytes.append(contentsOf: text.utf8)
    }

    // MARK: Reading

    /// Parses the lines of a row.
    ///
    /// - Parameters:
    ///   - last: the number of the last line.
    ///   - at: when all of them were recorded, Unix nanoseconds.
    static func lines(
        _ bytes: [UInt8],
        count: Int64,
        last: Int64,
        at: Int64
    ) throws(SQLiteFailure) -> [JournalLine] {
        var reader = Reader(bytes: bytes[...])
        var lines: [JournalLine] = []
        while !reader.bytes.isEmpty {
            let parts = try reader.byte()
            let length = try reader.byte()
            lines.append(
                JournalLine(
                    number: last &- count &+ Int64(lines.count) &+ 1,
                    at: at,
                    event: try reader.text(Int(length)),
                    request: parts & Part.request == 0 ? nil : try reader.id(),
                    task: parts & Part.task == 0 ? nil : try reader.text(),
                    run: parts & Part.run == 0 ? nil : try reader.id(),
                    detail: parts & Part.detail == 0 ? nil : try reader.text()
                )
            )
        }
        guard lines.count == count else { throw Reader.damaged }
        return lines
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        static let damaged = SQLiteFailure.damaged("a row of the journal is damaged")

        private mutating func take(_ count: Int) throws(SQLiteFailure) -> ArraySlice<UInt8> {
            guard count <= bytes.count else { throw Self.damaged }
            defer { bytes.removeFirst(count) }
            return bytes.prefix(count)
        }

        mutating func byte() throws(SQLiteFailure) -> UInt8 {
            guard let byte = bytes.popFirst() else { throw Self.damaged }
            return byte
        }

        mutating func text(_ count: Int) throws(SQLiteFailure) -> String {
            String(decoding: try take(count), as: UTF8.self)
        }

        mutating func text() throws(SQLiteFailure) -> String {
            let count = try take(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            return try text(count)
        }

        mutating func id() throws(SQLiteFailure) -> RunID {
            func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
                bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
            }
            let high = number(try take(8))
            return RunID(high: high, low: number(try take(8)))
        }
    }
}
