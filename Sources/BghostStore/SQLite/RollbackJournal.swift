// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// The `-journal` that a process leaves if it is killed while it switches a database to write-ahead logging.
///
/// SQLite switches in a transaction without a `-wal`: of a new database that creates the first page, and of a
/// copy it changes that page. The transaction must be undone before the database is read, which a read-only
/// connection cannot do.
enum RollbackJournal {
    /// The parts of the header that show which file the journal is of.
    private struct Header {
        static let size = 28

        /// The pages of the database before the transaction.
        let pages: Int64
        /// Bytes.
        let pageSize: Int64

        init(_ bytes: [UInt8]) {
            func word(_ offset: Int) -> Int64 {
                bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
            }
            pages = word(16)
            pageSize = word(24)
        }
    }

    /// Undoes the interrupted transaction, as any program does that opens the file with SQLite.
    ///
    /// The file is then as it was before that transaction, and may be empty. No connection to the database may
    /// be open.
    ///
    /// - Parameters:
    ///   - database: the path; the file must exist.
    ///   - size: its size, bytes.
    static func undo(_ database: String, size: Int64) throws(SQLiteFailure) {
        let path = database + "-journal"
        guard let header = try read(path) else { return }
        // Another journal would write the pages of another file into this one, or cut it off. The switch changes
        // one page, and is complete before there is a -wal.
        let isOfSwitch =
            header.pages == 0
            ? size <= header.pageSize : header.pages * header.pageSize == size
        var log = stat()
        let hasLog = stat(database + "-wal", &log) == 0 && log.st_size > 0
        guard isOfSwitch, !hasLog else {
            throw .damaged(
                "beside it is \(path), which bghost did not write for this file as it is: if another"
                    + " program changed the file and was killed, open it with that program once; if"
                    + " the file was put there later, remove the -journal"
            )
        }
        let connection = try Connection(path: database, isReadOnly: false, pragmas: "")
        try connection.close()
    }

    /// The header of a journal that SQLite would apply; `nil` if there is none.
    private static func read(_ path: String) throws(SQLiteFailure) -> Header? {
        let fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard fd >= 0 else {
            // SQLite itself reports a file that cannot be read.
            return nil
        }
        defer { close(fd) }
        var bytes = [UInt8](repeating: 0, count: Header.size)
        let count = pread(fd, &bytes, bytes.count, 0)
        guard count >= 0 else {
            throw SQLiteFailure(
                code: SQLITE_IOERR,
                systemError: errno,
                text: "its -journal cannot be read"
            )
        }
        // SQLite writes the header last: before that, the database was not changed.
        guard count == bytes.count, bytes[0] != 0 else { return nil }
        return Header(bytes)
    }
}
