// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
// For `Data`, which is what GRDB takes bytes as.
internal import FoundationEssentials
internal import GRDB

/// The values of a row that is being made, each in its column.
struct TransferRowWriter {
    private(set) var values: [DatabaseValue] = []

    mutating func add(_ value: Int64?) { values.append(value.databaseValue) }

    mutating func add(_ value: Int?) { add(value.map(Int64.init)) }

    /// The same 64 bits as a signed number: SQLite has no other.
    mutating func add(_ value: UInt64) { add(Int64(bitPattern: value)) }

    mutating func add(_ value: Bool) { add(value ? Int64(1) : 0) }

    mutating func add(_ value: String?) { add(value.map { Array($0.utf8) }) }

    mutating func add(_ value: [UInt8]?) {
        values.append(value.map { Data($0).databaseValue } ?? .null)
    }

    mutating func add(_ id: RunID) { add(id.bytes) }

    /// Names hold no colon, and neither they nor values a line break.
    mutating func add(_ headers: [TransferHeader]?) {
        add(headers.map { $0.map { "\($0.name):\($0.value)\n" }.joined() })
    }

    /// The sum of all that was added: the last column.
    mutating func addSum() { add(Self.sum(values[...])) }

    /// A checksum of values and their types.
    static func sum(_ values: ArraySlice<DatabaseValue>) -> Int64 {
        var sum = RowSum()
        for value in values {
            switch value.storage {
            case .null: sum.add(UInt64.max)
            case .int64(let number): sum.add(UInt64(bitPattern: number))
            case .double(let number): sum.add(number.bitPattern)
            case .string(var text): text.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
            case .blob(let bytes): bytes.withUnsafeBytes { sum.add($0) }
            }
        }
        return Int64(bitPattern: sum.value)
    }
}

/// The values of a row that is being read, from the first on.
struct TransferRowReader {
    private let values: [DatabaseValue]
    private var index = 0

    /// Fails if the row is not as it was written.
    init(_ row: GRDB.Row) throws {
        values = Array(row.databaseValues)
        guard let last = values.last, case .int64(let sum) = last.storage,
            sum == TransferRowWriter.sum(values.dropLast())
        else { throw SQLiteFailure.damaged("a row of a transfer is damaged") }
    }

    mutating func optionalInt() throws -> Int64? {
        let value = next()
        guard !value.isNull else { return nil }
        guard case .int64(let number) = value.storage else { throw Self.damaged }
        return number
    }

    mutating func int() throws -> Int64 {
        guard let number = try optionalInt() else { throw Self.damaged }
        return number
    }

    mutating func uint() throws -> UInt64 { UInt64(bitPattern: try int()) }

    mutating func bool() throws -> Bool { try int() != 0 }

    mutating func optionalText() throws -> String? {
        try optionalBytes().map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func text() throws -> String {
        guard let text = try optionalText() else { throw Self.damaged }
        return text
    }

    mutating func optionalBytes() throws -> [UInt8]? {
        let value = next()
        guard !value.isNull else { return nil }
        guard case .blob(let bytes) = value.storage else { throw Self.damaged }
        return bytes.withUnsafeBytes { Array($0) }
    }

    mutating func bytes() throws -> [UInt8] {
        guard let bytes = try optionalBytes() else { throw Self.damaged }
        return bytes
    }

    mutating func id() throws -> RunID {
        guard let id = RunID(bytes: try bytes()) else { throw Self.damaged }
        return id
    }

    mutating func headers() throws -> [TransferHeader] {
        try (optionalText() ?? "").split(separator: "\n").map { line in
            guard let colon = line.firstIndex(of: ":") else { throw Self.damaged }
            return TransferHeader(
                String(line[..<colon]),
                String(line[line.index(after: colon)...])
            )
        }
    }

    /// A text that is one of few; `nil` for NULL.
    mutating func choice<Choice: RawRepresentable<String>>(_: Choice.Type) throws -> Choice? {
        guard let text = try optionalText() else { return nil }
        guard let choice = Choice(rawValue: text) else { throw Self.damaged }
        return choice
    }

    static let damaged = SQLiteFailure.damaged("a row of a transfer says what cannot be")

    private mutating func next() -> DatabaseValue {
        defer { index += 1 }
        return index < values.count - 1 ? values[index] : .null
    }
}

extension RunID {
    /// Sixteen bytes, the highest first, so that they sort as ids do.
    fileprivate var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    fileprivate init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes {
            RunID(
                high: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}
