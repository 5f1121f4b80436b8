// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import Synchronization

/// A journal in an SQLite file of its own.
///
/// Not in the store's file: there exactly one connection may write, and no submission should wait
/// behind the progress of a thousand transfers.
///
/// Changes are kept by GRDB's own thread, all that have arrived in one transaction, since the disk's
/// sync is what costs. After a failed sync or a damaged page every further commit fails; a full disk
/// fails those that do not fit, and no others.
package final class SQLiteTransferJournal: TransferJournal {
    private struct Job: Sendable {
        let changes: [TransferChange]
        let completion: @Sendable (Result<Void, TransferJournalError>) -> Void
    }

    private struct Inbox {
        var waiting: [Job] = []
        /// Whether the thread will look into the inbox again by itself.
        var isAwake = false
        var isClosed = false
        /// Why nothing may be written any more.
        var fault: SQLiteFailure?
    }

    private let path: String
    private let queue: DatabaseQueue
    private let inbox = Mutex(Inbox())

    /// Opens the file, or makes it.
    ///
    /// - Parameter path: its folder must exist. `-wal` lies beside it.
    package init(path: String) throws(TransferJournalError) {
        self.path = path
        do {
            try Self.create(path)
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            configuration.busyMode = .immediateError
            configuration.label = "bghost.transfers"
            configuration.prepareDatabase { database in
                // Nobody else may have it, so that no memory has to be shared either.
                try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
                let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
                guard mode == "wal" else {
                    throw SQLiteFailure(code: SQLITE_ERROR, text: "it cannot have a -wal beside it")
                }
                try database.execute(
                    sql: """
                        PRAGMA synchronous = FULL;
                        PRAGMA cell_size_check = ON;
                        PRAGMA trusted_schema = OFF;
                        PRAGMA journal_size_limit = 67108864;
                        """
                )
                try Self.check(database)
            }
            queue = try DatabaseQueue(path: path, configuration: configuration)
            try TransferSchema.migrate(queue)
            try Folder.sync(of: path)
        } catch {
            throw Self.error(error, "open the journal of transfers", path)
        }
    }

    /// Others must not read it: headers may hold secrets.
    private static func create(_ path: String) throws(SQLiteFailure) {
        let fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else {
            throw SQLiteFailure(
                code: SQLITE_CANTOPEN,
                systemError: errno,
                text: "it cannot be made"
            )
        }
        // No connection is open yet, whose locks this would drop.
        _ = Glibc.close(fd)
    }

    private static func check(_ database: Database) throws {
        let id = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard id == TransferSchema.applicationID || id == 0 && version == 0 else {
            throw SQLiteFailure(code: SQLITE_NOTADB, text: "it is the database of another program")
        }
        guard version <= TransferSchema.version else {
            throw SQLiteFailure(
                code: SQLITE_ERROR,
                text: "it was written by a newer bghost (format \(version), this one knows"
                    + " \(TransferSchema.version)); start that one"
            )
        }
    }

    package func commit(
        _ changes: [TransferChange],
        completion: @escaping @Sendable (Result<Void, TransferJournalError>) -> Void
    ) {
        let (isClosed, mustWake) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (true, false) }
            inbox.waiting.append(Job(changes: changes, completion: completion))
            defer { inbox.isAwake = true }
            return (false, !inbox.isAwake)
        }
        if isClosed {
            completion(.failure(TransferJournalError("the journal \(path) is closed")))
        } else if mustWake {
            queue.asyncWriteWithoutTransaction { self.work($0) }
        }
    }

    package func recover() throws(TransferJournalError) -> [TransferRecord] {
        do {
            return try queue.writeWithoutTransaction { database in
                // What was committed before is read too, whether it was its turn or not.
                self.work(database)
                return try Self.records(database)
            }
        } catch {
            throw Self.error(error, "read the transfers", path)
        }
    }

    private static func records(_ database: Database) throws -> [TransferRecord] {
        var points: [RunID: TransferPoint] = [:]
        var statuses: [RunID: TransferStatus] = [:]
        var rows = try GRDB.Row.fetchCursor(database, sql: "SELECT * FROM transfer_point")
        while let row = try rows.next() {
            let (id, point) = try TransferPoint.read(row)
            points[id] = point
        }
        rows = try GRDB.Row.fetchCursor(database, sql: "SELECT * FROM transfer_status")
        while let row = try rows.next() {
            let (id, status) = try TransferStatus.read(row)
            statuses[id] = status
        }
        var records: [TransferRecord] = []
        rows = try GRDB.Row.fetchCursor(database, sql: "SELECT * FROM transfer ORDER BY id")
        while let row = try rows.next() {
            let (request, key) = try TransferRequest.read(row)
            guard let point = points[request.id], let status = statuses[request.id] else {
                throw SQLiteFailure.damaged("a part of the transfer \(request.id) is missing")
            }
            records.append(
                TransferRecord(request: request, key: key, point: point, status: status)
            )
        }
        // A row that vanished with a damaged page has left its parts in other tables.
        guard records.count == points.count, records.count == statuses.count else {
            throw SQLiteFailure.damaged("a transfer is missing")
        }
        return records
    }

    package func close() {
        let wasClosed = inbox.withLock { inbox in
            defer { inbox.isClosed = true }
            return inbox.isClosed
        }
        guard !wasClosed else { return }
        queue.writeWithoutTransaction { self.work($0) }
        try? queue.close()
    }

    // MARK: The thread

    /// Keeps all that has arrived, until nothing more does.
    private func work(_ database: Database) {
        while true {
            let (jobs, fault) = inbox.withLock { inbox in
                defer { inbox.waiting = [] }
                if inbox.waiting.isEmpty { inbox.isAwake = false }
                return (inbox.waiting, inbox.fault)
            }
            guard !jobs.isEmpty else { return }
            if let fault {
                for job in jobs { finish(job, fault) }
                continue
            }
            guard let failure = attempt(jobs[...], database) else {
                for job in jobs { finish(job, nil) }
                continue
            }
            guard jobs.count > 1 else {
                finish(jobs[0], failure)
                continue
            }
            // One of them may be at fault, or all too big for the room that is left.
            for index in jobs.indices {
                finish(jobs[index], attempt(jobs[index...index], database))
            }
        }
    }

    private func finish(_ job: Job, _ failure: SQLiteFailure?) {
        job.completion(
            failure.map { .failure(Self.error($0, "keep a transfer", path)) } ?? .success(())
        )
    }

    private func attempt(_ jobs: ArraySlice<Job>, _ database: Database) -> SQLiteFailure? {
        if let fault = inbox.withLock({ $0.fault }) { return fault }
        do {
            try database.inTransaction {
                for job in jobs {
                    for change in job.changes { try Self.write(change, database) }
                }
                return .commit
            }
            return nil
        } catch {
            let failure = SQLiteFailure(error)
            if failure.isFatal { inbox.withLock { $0.fault = failure } }
            return failure
        }
    }

    private static func write(_ change: TransferChange, _ database: Database) throws {
        switch change {
        case .created(let record):
            let id = record.request.id
            try insert("transfer", record.request.values(key: record.key), database)
            try insert("transfer_point", record.point.values(of: id), database)
            try insert("transfer_status", record.status.values(of: id), database)
        case .moved(let id, let point):
            try replace("transfer_point", point.values(of: id), database)
        case .changed(let id, let status):
            try replace("transfer_status", status.values(of: id), database)
        case .removed(let id):
            var row = TransferRowWriter()
            row.add(id)
            for table in ["transfer", "transfer_point", "transfer_status"] {
                try database.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ?")
                    .execute(arguments: StatementArguments(row.values))
            }
        }
    }

    private static func insert(
        _ table: String,
        _ values: [DatabaseValue],
        _ database: Database
    ) throws {
        let marks = repeatElement("?", count: values.count).joined(separator: ",")
        try database.cachedStatement(sql: "INSERT INTO \(table) VALUES (\(marks))")
            .execute(arguments: StatementArguments(values))
    }

    /// Replaces a row that is there.
    private static func replace(
        _ table: String,
        _ values: [DatabaseValue],
        _ database: Database
    ) throws {
        let marks = repeatElement("?", count: values.count).joined(separator: ",")
        let sql = """
            REPLACE INTO \(table) SELECT \(marks)
            WHERE EXISTS (SELECT 1 FROM \(table) WHERE id = ?)
            """
        try database.cachedStatement(sql: sql)
            .execute(arguments: StatementArguments(values + values.prefix(1)))
    }

    private static func error(
        _ error: any Error,
        _ doing: String,
        _ path: String
    ) -> TransferJournalError {
        TransferJournalError(SQLiteFailure(error).error(doing, in: path).message)
    }
}
