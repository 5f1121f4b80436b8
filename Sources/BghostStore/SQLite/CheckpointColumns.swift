// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
internal import BghostPolicy

/// The rows of checkpoints.
///
/// A rowid table, because its rows are large. A start reads all rows up to `sum`, which SQLite does
/// without reading the bytes behind it; these have a checksum of their own.
enum CheckpointColumns {
    /// The version of the store that brought the table.
    static let version: Int32 = 13

    static let migration = """
        CREATE TABLE checkpoint (
            request BLOB PRIMARY KEY NOT NULL,
            task TEXT NOT NULL,
            plugin TEXT NOT NULL,
            run BLOB NOT NULL,
            epoch INTEGER NOT NULL,
            attempt INTEGER NOT NULL,
            saved_at INTEGER NOT NULL,
            length INTEGER NOT NULL,
            sum INTEGER NOT NULL,
            bytes BLOB NOT NULL,
            bytes_sum INTEGER NOT NULL
        ) STRICT;
        """

    static let summaryNames =
        "request, task, plugin, run, epoch, attempt, saved_at, length, sum"
    static let names = summaryNames + ", bytes, bytes_sum"
    static let count = 11

    static func bind(_ checkpoint: Checkpoint, to row: inout Arguments) {
        let about = checkpoint.about
        row.add(about.request)
        row.add(about.task)
        row.add(about.plugin)
        row.add(about.run)
        row.add(about.epoch)
        row.add(about.attempt)
        row.add(about.savedAt)
        row.add(about.length)
        row.addSum()
        row.restartSum()
        row.add(checkpoint.bytes)
        row.addSum()
    }

    static func read(_ row: inout Row) throws(SQLiteFailure) -> CheckpointSummary {
        row.restartSum()
        let about = CheckpointSummary(
            request: try row.id(),
            task: row.text(),
            plugin: row.text(),
            run: try row.id(),
            epoch: row.uint(),
            attempt: Int(clamping: row.int()),
            savedAt: row.int(),
            length: try row.count(of: "the bytes of a checkpoint")
        )
        try row.checkSum("the checkpoints")
        return about
    }

    static func readWhole(_ row: inout Row) throws(SQLiteFailure) -> Checkpoint {
        let about = try read(&row)
        row.restartSum()
        let bytes = row.bytes()
        try row.checkSum("the checkpoints")
        return Checkpoint(about, bytes)
    }

    /// All checkpoints, without their bytes.
    static func read(_ connection: Connection) throws(SQLiteFailure) -> [CheckpointSummary] {
        var found: [CheckpointSummary] = []
        let rows = try Statement("SELECT \(summaryNames) FROM checkpoint", on: connection)
        try rows.rows { row throws(SQLiteFailure) in
            found.append(try read(&row))
            return true
        }
        // Later reads find their row in the index, which the scan does not read.
        let indexed = try Statement(
            "SELECT count(*) FROM checkpoint WHERE request = ?",
            on: connection
        )
        for about in found {
            var count: Int64 = 0
            try indexed.rows({ $0.add(about.request) }) { row in
                count = row.int()
                return false
            }
            guard count == 1 else { throw .damaged("the index of the checkpoints is damaged") }
        }
        return found
    }
}

/// The statements of the writer for checkpoints.
struct CheckpointStatements {
    let save: Statement
    let delete: Statement
    let isLeased: Statement

    init(_ connection: Connection) throws(SQLiteFailure) {
        let marks = (1...CheckpointColumns.count).map { "?\($0)" }.joined(separator: ", ")
        save = try Statement(
            "INSERT OR REPLACE INTO checkpoint (\(CheckpointColumns.names)) VALUES (\(marks))",
            on: connection
        )
        delete = try Statement("DELETE FROM checkpoint WHERE request = ?", on: connection)
        isLeased = try Statement(
            "SELECT 1 FROM lease WHERE request = ? AND id = ? AND epoch = ?",
            on: connection
        )
    }
}

extension ChangeWriter {
    /// Stores a checkpoint, unless another run holds the request: it has no effect then.
    func keep(_ checkpoint: Checkpoint) throws(SQLiteFailure) {
        if try isLeased(checkpoint.about) {
            try checkpoints.save.run { CheckpointColumns.bind(checkpoint, to: &$0) }
            hasCheckpoints = true
        }
        countChange()
    }

    private func isLeased(_ about: CheckpointSummary) throws(SQLiteFailure) -> Bool {
        if let run = fresh[about.request] { return run.id == about.run && run.epoch == about.epoch }
        var isLeased = false
        try checkpoints.isLeased.rows({
            $0.add(about.request)
            $0.add(about.run)
            $0.add(about.epoch)
        }) { _ in
            isLeased = true
            return false
        }
        return isLeased
    }

    /// Deletes the checkpoint of a request, which ends in this transaction.
    func removeCheckpoint(of request: RunID) throws(SQLiteFailure) {
        // Most stores have none, and every end of a request comes here.
        guard hasCheckpoints else { return }
        _ = try checkpoints.delete.run { $0.add(request) }
    }
}

/// Reads checkpoints.
struct CheckpointReader {
    private let one: Statement
    private let named: Statement
    private let walk: Statement

    init(_ connection: Connection) throws(SQLiteFailure) {
        one = try Statement(
            "SELECT \(CheckpointColumns.names) FROM checkpoint WHERE request = ?",
            on: connection
        )
        named = try Statement(
            """
            SELECT \(CheckpointColumns.summaryNames) FROM checkpoint
            WHERE request >= ? AND request <= ? ORDER BY request LIMIT ?
            """,
            on: connection
        )
        walk = try Statement(
            """
            SELECT \(CheckpointColumns.summaryNames) FROM checkpoint
            WHERE request < ? ORDER BY request DESC
            """,
            on: connection
        )
    }

    func checkpoint(of request: RunID) throws(SQLiteFailure) -> Checkpoint? {
        var found: Checkpoint?
        try one.rows({ $0.add(request) }) { row throws(SQLiteFailure) in
            found = try CheckpointColumns.readWhole(&row)
            return false
        }
        return found
    }

    func summaries(
        _ requests: ClosedRange<RunID>,
        limit: Int
    ) throws(SQLiteFailure) -> [CheckpointSummary] {
        var found: [CheckpointSummary] = []
        try named.rows({
            $0.add(requests.lowerBound)
            $0.add(requests.upperBound)
            $0.add(limit)
        }) { row throws(SQLiteFailure) in
            found.append(try CheckpointColumns.read(&row))
            return true
        }
        return found
    }
}

extension CheckpointReader {
    /// A page, by a walk of the index from where the page before it ended; no row's bytes are read.
    func page(_ query: CheckpointQuery) throws(SQLiteFailure) -> CheckpointPage {
        var page = CheckpointPage()
        guard query.limit > 0 else { return page }
        var read = 0
        try walk.rows({ $0.add(query.start) }) { row throws(SQLiteFailure) in
            read += 1
            let about = try CheckpointColumns.read(&row)
            if query.matches(about) {
                guard page.checkpoints.count < query.limit else {
                    page.next = page.checkpoints.last?.request
                    return false
                }
                page.checkpoints.append(about)
            }
            guard read < CheckpointQuery.readMax else {
                page.next = about.request
                return false
            }
            return true
        }
        return page
    }
}

extension SQLiteStore {
    package func checkpoint(ofRequest id: RunID) -> StoredCheckpoint {
        answer(.unreadable) { reader, uncommitted throws(SQLiteFailure) in
            let stored = try reader.checkpoints.checkpoint(of: id)
            let newest = uncommitted.checkpoint(of: id, stored: stored)
            return newest.map(StoredCheckpoint.found) ?? .none
        }
    }

    package func checkpoints(idPrefix: String, limit: Int) -> [CheckpointSummary] {
        guard limit > 0, let ids = RunIDRange.ids(beginningWith: idPrefix) else { return [] }
        return answer([]) { reader, _ throws(SQLiteFailure) in
            try reader.checkpoints.summaries(ids, limit: limit)
        }
    }

    package func checkpoints(_ query: CheckpointQuery) -> CheckpointPage {
        answer(CheckpointPage()) { reader, _ throws(SQLiteFailure) in
            try reader.checkpoints.page(query)
        }
    }
}

extension Uncommitted {
    /// The checkpoint of a request after the changes.
    ///
    /// Its run was the request's when it passed the change on, and transactions keep their order; so
    /// nothing here has to compare leases.
    func checkpoint(of request: RunID, stored: Checkpoint?) -> Checkpoint? {
        var checkpoint = stored
        for change in changes {
            switch change {
            case .checkpointSaved(let saved) where saved.about.request == request:
                checkpoint = saved
            default:
                if change.endsCheckpoint(of: request) { checkpoint = nil }
            }
        }
        return checkpoint
    }
}
