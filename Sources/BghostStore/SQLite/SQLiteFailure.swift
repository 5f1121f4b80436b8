// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// A failure of an SQLite call, before it is described for people.
struct SQLiteFailure: Error {
    /// The extended result code.
    var code: Int32
    /// The `errno` of the failed system call, or 0.
    var systemError: Int32
    var text: String

    init(code: Int32, systemError: Int32 = 0, text: String) {
        self.code = code
        self.systemError = systemError
        self.text = text
    }

    /// The failure of the last call on a connection.
    init(of connection: OpaquePointer) {
        let last = errno
        code = sqlite3_extended_errcode(connection)
        let kept = sqlite3_system_errno(connection)
        let isOfTheSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
        systemError = kept != 0 || !isOfTheSystem ? kept : last
        text = String(cString: sqlite3_errmsg(connection))
    }

    static func damaged(_ text: String) -> SQLiteFailure {
        SQLiteFailure(code: SQLITE_CORRUPT, text: text)
    }

    /// Whether the disk is full.
    ///
    /// SQLite recognizes one errno for that; quotas, file size limits and the shared memory file
    /// cause I/O errors, but these leave nothing half done and end once there is room.
    var isFull: Bool {
        if code & 0xFF == SQLITE_FULL { return true }
        let isNoRoom = [ENOSPC, EDQUOT, EFBIG].contains(systemError)
        return code == Extended.shmSize || code == Extended.write && isNoRoom
    }

    /// Whether another connection holds the lock.
    var isBusy: Bool { code & 0xFF == SQLITE_BUSY }

    /// Whether a row violates a constraint of its table, such as a unique id.
    var isConstraint: Bool { code & 0xFF == SQLITE_CONSTRAINT }

    /// Whether a row cannot have its number, because another one has it or it is above the highest one.
    var isNumberTaken: Bool {
        Extended.taken.contains(code) || code & 0xFF == SQLITE_MISMATCH
    }

    /// SQLite's own code for this, `SQLITE_READONLY_DBMOVED`.
    static let movedCode = SQLITE_READONLY | (4 << 8)

    /// Extended result codes; Swift does not import macros that compute a value.
    private enum Extended {
        static let write = SQLITE_IOERR | (3 << 8)
        static let shmSize = SQLITE_IOERR | (19 << 8)
        /// Of a primary key, a unique index and a row's number.
        static let taken = [6, 8, 10].map { SQLITE_CONSTRAINT | ($0 << 8) }
    }

    var kind: StoreError.Kind {
        if isFull { return .full }
        return switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: .taken
        case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
        case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM: .readOnly
        case SQLITE_IOERR:
            [EROFS, EACCES, EPERM].contains(systemError) ? .readOnly : .other
        default: .other
        }
    }

    /// Whether nothing may be written from now on.
    ///
    /// After a failed sync the kernel may have dropped the pages that it could not write, and the
    /// next sync reports success: a retry would claim that lost data is on the disk.
    var isFatal: Bool {
        if isFull { return false }
        return switch code & 0xFF {
        case SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_READONLY, SQLITE_CANTOPEN: true
        default: false
        }
    }

    /// Whether the same transaction may succeed later on the same connection.
    var isTransient: Bool {
        if isFull { return true }
        return switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM: true
        default: false
        }
    }
}
