// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostTransferRules
internal import CSQLite

// Texts and ids of a transfer are stored as bytes: SQLite ends a text at its first zero byte.

extension Arguments {
    mutating func add(_ value: Bool) { add(value ? Int64(1) : 0) }

    mutating func add(_ value: Int?) { add(value.map(Int64.init)) }

    mutating func addBytes(_ bytes: [UInt8]?) {
        guard let bytes else { return addNull() }
        add(bytes)
    }

    mutating func addBytes(_ text: String?) { addBytes(text.map { Array($0.utf8) }) }

    /// Sixteen bytes, the highest first, so that they sort as ids do.
    mutating func addBytes(_ id: RunID) {
        addBytes(withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { Array($0) })
    }

    /// Header names contain no colon, and neither names nor values contain a line break.
    mutating func addBytes(_ headers: [TransferHeader]?) {
        addBytes(headers.map { $0.map { "\($0.name):\($0.value)\n" }.joined() })
    }
}

/// Reads the values of a row in the order of its columns.
///
/// The checksum does not cover types, so each value must also have the type that was written.
struct TransferRowReader {
    private var row: Row

    init(_ row: Row) { self.row = row }

    mutating func optionalInt() throws(SQLiteFailure) -> Int64? {
        guard row.type == SQLITE_NULL || row.type == SQLITE_INTEGER else { throw Self.damaged }
        return row.optionalInt()
    }

    mutating func int() throws(SQLiteFailure) -> Int64 {
        guard let number = try optionalInt() else { throw Self.damaged }
        return number
    }

    mutating func uint() throws(SQLiteFailure) -> UInt64 { UInt64(bitPattern: try int()) }

    mutating func bool() throws(SQLiteFailure) -> Bool { try int() != 0 }

    mutating func optionalText() throws(SQLiteFailure) -> String? {
        guard let bytes = try optionalBytes() else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    mutating func text() throws(SQLiteFailure) -> String {
        guard let text = try optionalText() else { throw Self.damaged }
        return text
    }

    mutating func optionalBytes() throws(SQLiteFailure) -> [UInt8]? {
        guard row.type == SQLITE_NULL || row.type == SQLITE_BLOB else { throw Self.damaged }
        return row.optionalBytes()
    }

    mutating func bytes() throws(SQLiteFailure) -> [UInt8] {
        guard let bytes = try optionalBytes() else { throw Self.damaged }
        return bytes
    }

    mutating func id() throws(SQLiteFailure) -> RunID {
        let bytes = try bytes()
        guard bytes.count == 16 else { throw Self.damaged }
        return bytes.withUnsafeBytes {
            RunID(
                high: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    mutating func headers() throws(SQLiteFailure) -> [TransferHeader] {
        var headers: [TransferHeader] = []
        for line in try (optionalText() ?? "").split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { throw Self.damaged }
            headers.append(
                TransferHeader(
                    String(line[..<colon]),
                    String(line[line.index(after: colon)...])
                )
            )
        }
        return headers
    }

    /// A text that is one of few; `nil` for NULL.
    mutating func choice<Choice: RawRepresentable<String>>(
        _: Choice.Type
    ) throws(SQLiteFailure) -> Choice? {
        guard let text = try optionalText() else { return nil }
        guard let choice = Choice(rawValue: text) else { throw Self.damaged }
        return choice
    }

    mutating func restartSum() { row.restartSum() }

    /// Compares the checksum since `restartSum` with the next column.
    ///
    /// - Parameter isOld: whether all columns since then are NULL, as in a row of an older format; so is the
    ///   checksum of that one.
    mutating func endOfAddedColumns(isOld: Bool) throws(SQLiteFailure) {
        guard !isOld || row.type != SQLITE_NULL else { return }
        try row.checkSum("a transfer")
    }

    /// Compares the checksum of all values with the next column.
    mutating func end() throws(SQLiteFailure) { try row.checkSum("a transfer") }

    static let damaged = SQLiteFailure.damaged("a row of a transfer has an impossible value")
}
