// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CSQLite
internal import Glibc

/// A prepared statement, which must be released before its connection is closed.
final class Statement {
    private let handle: OpaquePointer
    private let connection: Connection
    private let texts = ArgumentTexts()

    init(_ sql: String, on connection: Connection) throws(SQLiteFailure) {
        var handle: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        let code = sqlite3_prepare_v3(connection.handle, sql, -1, flags, &handle, nil)
        guard code == SQLITE_OK, let handle else { throw SQLiteFailure(of: connection.handle) }
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs the statement with arguments for all of its parameters.
    ///
    /// - Returns: how many rows it changed, for a statement that changes rows.
    @discardableResult
    func run(_ bind: (inout Arguments) -> Void = { _ in }) throws(SQLiteFailure) -> Int {
        var arguments = Arguments(handle, texts)
        bind(&arguments)
        defer { sqlite3_reset(handle) }
        guard arguments.code == SQLITE_OK else { throw SQLiteFailure(of: connection.handle) }
        // When a commit fails, SQLite does not record the errno of the failed system call; clear it
        // so that it can be read afterwards.
        errno = 0
        guard sqlite3_step(handle) == SQLITE_DONE else {
            throw SQLiteFailure(of: connection.handle)
        }
        return Int(sqlite3_changes(connection.handle))
    }

    /// How often it has run, and how many rows it has looked at one after the other, for tests.
    var work: (runs: Int, scanned: Int) {
        (
            Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_RUN, 0)),
            Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0))
        )
    }

    /// Reads the rows of the result.
    ///
    /// - Parameter body: reads one row; returns `false` to stop.
    func rows(
        _ bind: (inout Arguments) -> Void = { _ in },
        _ body: (inout Row) throws(SQLiteFailure) -> Bool
    ) throws(SQLiteFailure) {
        var arguments = Arguments(handle, texts)
        bind(&arguments)
        defer { sqlite3_reset(handle) }
        guard arguments.code == SQLITE_OK else { throw SQLiteFailure(of: connection.handle) }
        errno = 0
        while true {
            let code = sqlite3_step(handle)
            guard code == SQLITE_ROW else {
                guard code == SQLITE_DONE else { throw SQLiteFailure(of: connection.handle) }
                return
            }
            var row = Row(handle)
            guard try body(&row) else { return }
        }
    }
}

/// A buffer for the texts of one statement's arguments while it runs.
///
/// Without it, SQLite would allocate and free memory for each text, which is a large part of the
/// cost of a row.
private final class ArgumentTexts {
    static let size = 4096

    let start = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)

    deinit { start.deallocate() }
}

/// Binds the arguments of a statement in order, and computes their checksum.
struct Arguments {
    private let handle: OpaquePointer
    private let texts: ArgumentTexts
    /// The used bytes of the buffer.
    private var used = 0
    private var index: Int32 = 0
    private var sum = RowSum()
    /// The first failure: a text of more than a gigabyte, or no memory.
    private(set) var code = SQLITE_OK

    /// Tells SQLite to copy the bytes before the call returns.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    fileprivate init(_ handle: OpaquePointer, _ texts: ArgumentTexts) {
        self.handle = handle
        self.texts = texts
    }

    /// Copies bytes into the buffer, where they stay until the next arguments; `nil` if it is full.
    private mutating func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard bytes.count <= ArgumentTexts.size - used else { return nil }
        let place = texts.start + used
        if let start = bytes.baseAddress { place.copyMemory(from: start, byteCount: bytes.count) }
        used += bytes.count
        return UnsafeRawPointer(place)
    }

    mutating func add(_ value: Int64) {
        index += 1
        sum.add(UInt64(bitPattern: value))
        note(sqlite3_bind_int64(handle, index, value))
    }

    mutating func add(_ value: Int) { add(Int64(value)) }

    /// Stores the same 64 bits as a signed number, since SQLite has no unsigned ones.
    mutating func add(_ value: UInt64) { add(Int64(bitPattern: value)) }

    mutating func add(_ value: Int64?) {
        guard let value else { return addNull() }
        add(value)
    }

    mutating func addNull() {
        index += 1
        sum.add(.max)
        note(sqlite3_bind_null(handle, index))
    }

    /// Binds a value of a column that a later version added.
    ///
    /// NULL does not count in the checksum, so that older rows keep theirs.
    mutating func addLater(_ value: Int64?) {
        if let value { return add(value) }
        index += 1
        note(sqlite3_bind_null(handle, index))
    }

    mutating func addLater(_ text: String?) {
        if let text { return add(text) }
        index += 1
        note(sqlite3_bind_null(handle, index))
    }

    mutating func addLater(_ id: RunID?) {
        if let id { return add(id) }
        index += 1
        note(sqlite3_bind_null(handle, index))
    }

    mutating func add(_ text: String) {
        index += 1
        var text = text
        let code = text.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            sum.add(bytes)
            let kept = keep(bytes)
            // An empty buffer may have a null address, which SQLite would bind as NULL.
            guard let start = kept ?? bytes.baseAddress else {
                return sqlite3_bind_text(handle, index, "", 0, Self.transient)
            }
            return sqlite3_bind_text64(
                handle,
                index,
                start.assumingMemoryBound(to: CChar.self),
                UInt64(bytes.count),
                kept == nil ? Self.transient : nil,
                UInt8(SQLITE_UTF8)
            )
        }
        note(code)
    }

    mutating func add(_ bytes: [UInt8]) {
        index += 1
        let code = bytes.withUnsafeBytes { bytes in
            sum.add(bytes)
            // An empty buffer may have no address, which SQLite would take for NULL.
            guard let start = bytes.baseAddress else {
                return sqlite3_bind_zeroblob(handle, index, 0)
            }
            return sqlite3_bind_blob64(
                handle,
                index,
                start,
                UInt64(bytes.count),
                Self.transient
            )
        }
        note(code)
    }

    mutating func add(_ text: String?) {
        guard let text else { return addNull() }
        add(text)
    }

    /// Sixteen bytes, the highest first, so that they sort in the order of the ids.
    mutating func add(_ id: RunID) {
        index += 1
        sum.add(id)
        var bytes = (id.high.bigEndian, id.low.bigEndian)
        let code = withUnsafeBytes(of: &bytes) { bytes in
            let kept = keep(bytes)
            let start = kept ?? bytes.baseAddress
            let owner = kept == nil ? Self.transient : nil
            return sqlite3_bind_blob(handle, index, start, 16, owner)
        }
        note(code)
    }

    mutating func add(_ id: RunID?) {
        guard let id else { return addNull() }
        add(id)
    }

    /// Binds the checksum of all arguments since the start or since `restartSum`.
    mutating func addSum() { add(Int64(bitPattern: sum.value)) }

    mutating func restartSum() { sum = RowSum() }

    private mutating func note(_ code: Int32) {
        if self.code == SQLITE_OK { self.code = code }
    }
}

/// Reads the values of one row in order, and computes their checksum.
struct Row {
    private let handle: OpaquePointer
    private var index: Int32 = 0
    private var sum = RowSum()

    init(_ handle: OpaquePointer) { self.handle = handle }

    mutating func int() -> Int64 {
        let value = sqlite3_column_int64(handle, index)
        index += 1
        sum.add(UInt64(bitPattern: value))
        return value
    }

    mutating func uint() -> UInt64 { UInt64(bitPattern: int()) }

    /// No count that is stored comes near the end, and sums of a few of them do not overflow.
    private static let countMax: Int64 = 1 << 40

    /// A count that others are added to.
    mutating func count(of what: String) throws(SQLiteFailure) -> Int {
        let value = int()
        guard (0...Self.countMax).contains(value) else {
            throw .damaged("\(what) have the impossible count \(value)")
        }
        return Int(value)
    }

    mutating func optionalInt() -> Int64? { isNull() ? nil : int() }

    mutating func text() -> String {
        let start = sqlite3_column_text(handle, index)
        let count = Int(sqlite3_column_bytes(handle, index))
        let bytes = UnsafeBufferPointer(start: start, count: count)
        index += 1
        sum.add(UnsafeRawBufferPointer(bytes))
        return String(decoding: bytes, as: UTF8.self)
    }

    mutating func bytes() -> [UInt8] {
        let start = sqlite3_column_blob(handle, index)
        let count = Int(sqlite3_column_bytes(handle, index))
        let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
        index += 1
        sum.add(bytes)
        return Array(bytes)
    }

    /// The counterpart of `addLater`.
    mutating func laterInt() -> Int64? {
        guard sqlite3_column_type(handle, index) == SQLITE_NULL else { return int() }
        index += 1
        return nil
    }

    mutating func laterText() -> String? {
        guard sqlite3_column_type(handle, index) == SQLITE_NULL else { return text() }
        index += 1
        return nil
    }

    mutating func laterID() throws(SQLiteFailure) -> RunID? {
        guard sqlite3_column_type(handle, index) == SQLITE_NULL else { return try id() }
        index += 1
        return nil
    }

    mutating func optionalBytes() -> [UInt8]? { isNull() ? nil : bytes() }

    mutating func optionalText() -> String? { isNull() ? nil : text() }

    mutating func id() throws(SQLiteFailure) -> RunID {
        let start = sqlite3_column_blob(handle, index)
        let count = sqlite3_column_bytes(handle, index)
        index += 1
        guard let start, count == 16 else { throw .damaged("an id is not 16 bytes long") }
        let id = RunID(
            high: UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
        sum.add(id)
        return id
    }

    mutating func optionalID() throws(SQLiteFailure) -> RunID? { isNull() ? nil : try id() }

    mutating func skip() { index += 1 }

    /// The type of the next value in the file, such as `SQLITE_NULL`.
    var type: Int32 { sqlite3_column_type(handle, index) }

    mutating func restartSum() { sum = RowSum() }

    /// Compares the checksum of the values read so far with the next column.
    mutating func checkSum(_ what: String) throws(SQLiteFailure) {
        guard hasRightSum() else { throw .damaged("a row of \(what) is damaged") }
    }

    /// Whether the next column is the checksum of the values read so far.
    mutating func hasRightSum() -> Bool {
        let expected = sum.value
        return uint() == expected
    }

    /// Skips the column if it is NULL.
    private mutating func isNull() -> Bool {
        guard sqlite3_column_type(handle, index) == SQLITE_NULL else { return false }
        index += 1
        sum.add(.max)
        return true
    }
}
