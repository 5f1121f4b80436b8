// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostTransferRules
internal import CSQLite
internal import Glibc

/// The tables of the transfers' journal, on the one connection to its file.
///
/// `@unchecked`: the journal uses it under one lock.
final class TransferTables: @unchecked Sendable {
    let connection: Connection
    private let transaction: Transaction
    private let insertTransfer: Statement
    private let insertPoint: Statement
    private let insertStatus: Statement
    private let replacePoint: Statement
    private let replaceStatus: Statement
    private let removals: [Statement]

    /// Opens the file or creates it.
    init(path: String) throws(SQLiteFailure) {
        try Self.create(path)
        // Only this process uses the file, so SQLite needs no shared memory either.
        connection = try Connection(
            path: path,
            isReadOnly: false,
            pragmas: """
                PRAGMA locking_mode = EXCLUSIVE;
                PRAGMA synchronous = FULL;
                PRAGMA cell_size_check = ON;
                PRAGMA trusted_schema = OFF;
                PRAGMA journal_size_limit = 67108864;
                """
        )
        let format = TransferSchema.format
        if try !format.isUnfinished(connection) {
            _ = try format.check(connection, advice: "start that one")
        }
        guard try connection.useLog() else {
            throw SQLiteFailure(code: SQLITE_ERROR, text: "it cannot have a -wal beside it")
        }
        try format.migrate(connection)
        try Folder.sync(of: path)

        let (transfer, point, status) = ("transfer", "transfer_point", "transfer_status")
        transaction = try Transaction(on: connection)
        insertTransfer = try Self.insert(transfer, TransferRequest.columns, connection)
        insertPoint = try Self.insert(point, TransferPoint.columns, connection)
        insertStatus = try Self.insert(status, TransferStatus.columns, connection)
        replacePoint = try Self.replace(point, TransferPoint.columns, connection)
        replaceStatus = try Self.replace(status, TransferStatus.columns, connection)
        var removals: [Statement] = []
        for table in [transfer, point, status] {
            let sql = "DELETE FROM \(table) WHERE id = ?"
            removals.append(try Statement(sql, on: connection))
        }
        self.removals = removals
    }

    /// Creates the file so that other users cannot read it: headers may contain secrets.
    private static func create(_ path: String) throws(SQLiteFailure) {
        let fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else {
            throw SQLiteFailure(
                code: SQLITE_CANTOPEN,
                systemError: errno,
                text: "it cannot be made"
            )
        }
        // No connection is open yet, so this close drops no locks.
        close(fd)
    }

    private static func insert(
        _ table: String,
        _ columns: Int,
        _ connection: Connection
    ) throws(SQLiteFailure) -> Statement {
        try Statement("INSERT INTO \(table) VALUES (\(marks(columns)))", on: connection)
    }

    /// Replaces an existing row.
    private static func replace(
        _ table: String,
        _ columns: Int,
        _ connection: Connection
    ) throws(SQLiteFailure) -> Statement {
        try Statement(
            """
            REPLACE INTO \(table) SELECT \(marks(columns))
            WHERE EXISTS (SELECT 1 FROM \(table) WHERE id = ?1)
            """,
            on: connection
        )
    }

    private static func marks(_ count: Int) -> String {
        repeatElement("?", count: count).joined(separator: ", ")
    }

    /// Writes lists of changes in one transaction.
    func keep(_ lists: [[TransferChange]]) throws(SQLiteFailure) {
        try transaction.run { () throws(SQLiteFailure) in
            for changes in lists {
                for change in changes { try write(change) }
            }
        }
    }

    /// Checks whether there is room for a small transaction.
    func probe() throws(SQLiteFailure) {
        // SQLite writes the page of this number although the number stays the same.
        try connection.run("PRAGMA user_version = \(TransferSchema.format.version)")
    }

    private func write(_ change: TransferChange) throws(SQLiteFailure) {
        switch change {
        case .created(let record):
            let id = record.request.id
            try insertTransfer.run { record.request.bind(key: record.key, to: &$0) }
            try insertPoint.run { record.point.bind(id, to: &$0) }
            try insertStatus.run { record.status.bind(id, to: &$0) }
        case .moved(let id, let point): try replacePoint.run { point.bind(id, to: &$0) }
        case .changed(let id, let status): try replaceStatus.run { status.bind(id, to: &$0) }
        case .removed(let id):
            for removal in removals { try removal.run { $0.addBytes(id) } }
        }
    }

    /// All transfers in the order of their ids.
    func records() throws(SQLiteFailure) -> [TransferRecord] { try Self.records(in: connection) }

    static func records(in connection: Connection) throws(SQLiteFailure) -> [TransferRecord] {
        var points: [RunID: TransferPoint] = [:]
        try read("SELECT * FROM transfer_point", on: connection) { row throws(SQLiteFailure) in
            let (id, point) = try TransferPoint.read(row)
            points[id] = point
        }
        var statuses: [RunID: TransferStatus] = [:]
        try read("SELECT * FROM transfer_status", on: connection) { row throws(SQLiteFailure) in
            let (id, status) = try TransferStatus.read(row)
            statuses[id] = status
        }
        var records: [TransferRecord] = []
        try read("SELECT * FROM transfer ORDER BY id", on: connection) {
            row throws(SQLiteFailure) in
            let (request, key) = try TransferRequest.read(row)
            guard let point = points[request.id], let status = statuses[request.id] else {
                throw .damaged("a part of the transfer \(request.id) is missing")
            }
            records.append(
                TransferRecord(request: request, key: key, point: point, status: status)
            )
        }
        // If a damaged page lost a row, the other tables still have rows of that transfer.
        guard records.count == points.count, records.count == statuses.count else {
            throw .damaged("a transfer is missing")
        }
        return records
    }

    private static func read(
        _ sql: String,
        on connection: Connection,
        _ each: (Row) throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) {
        try Statement(sql, on: connection).rows { row throws(SQLiteFailure) in
            try each(row)
            return true
        }
    }
}
