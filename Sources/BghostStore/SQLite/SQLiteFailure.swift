// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite
internal import Glibc

/// What SQLite says of a call that failed, before it is put into words for people.
struct SQLiteFailure: Error {
    /// The extended result code.
    var code: Int32
    /// `errno` of the system call behind it, or 0.
    var systemError: Int32
    var text: String

    init(code: Int32, systemError: Int32 = 0, text: String) {
        self.code = code
        self.systemError = systemError
        self.text = text
    }

    /// The failure of the call that has just been made on a connection.
    init(of connection: OpaquePointer) {
        let last = errno
        code = sqlite3_extended_errcode(connection)
        let kept = sqlite3_system_errno(connection)
        let isOfTheSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
        systemError = kept != 0 || !isOfTheSystem ? kept : last
        text = String(cString: sqlite3_errmsg(connection))
    }

    init(_ error: any Error) {
        if let failure = error as? SQLiteFailure {
            self = failure
        } else if let error = error as? DatabaseError {
            let text = error.message ?? "no message"
            self.init(code: error.extendedResultCode.rawValue, text: text)
        } else {
            self.init(code: SQLITE_ERROR, text: "\(error)")
        }
    }

    static func damaged(_ text: String) -> SQLiteFailure {
        SQLiteFailure(code: SQLITE_CORRUPT, text: text)
    }

    /// SQLite knows one errno for a full disk; quotas, file size limits and the shared memory file
    /// come as I/O errors, yet they leave nothing half done and pass once there is room.
    var isFull: Bool {
        if code & 0xFF == SQLITE_FULL { return true }
        let isNoRoom = [ENOSPC, EDQUOT, EFBIG].contains(systemError)
        return code == Extended.shmSize || code == Extended.write && isNoRoom
    }

    /// The extended result codes told apart here; the importer does not see macros that compute.
    private enum Extended {
        static let write = SQLITE_IOERR | (3 << 8)
        static let shmSize = SQLITE_IOERR | (19 << 8)
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

    /// Whether nothing may be written any more.
    ///
    /// After a failed sync the kernel may have dropped the pages that it could not write, and the
    /// next sync reports success: trying again would promise what is not on the disk.
    var isFatal: Bool {
        if isFull { return false }
        return switch code & 0xFF {
        case SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_READONLY, SQLITE_CANTOPEN: true
        default: false
        }
    }

    /// The failure in words.
    ///
    /// - Parameter doing: what failed, as in "keep a transaction".
    func error(_ doing: String, in path: String) -> StoreError {
        var why = text
        if systemError != 0 { why += " (\(String(cString: strerror(systemError))))" }
        return StoreError("cannot \(doing) in \(path): \(why); \(advice(path))", kind: kind)
    }

    private func advice(_ path: String) -> String {
        switch kind {
        case .full:
            "free some room on its file system: what is accepted is kept, and new requests are"
                + " accepted again by themselves"
        case .readOnly:
            "make the file and its folder writable for the daemon's user, then start it again"
        case .corrupt:
            "the file is left as it is: stop the daemon, keep the file and its -wal for"
                + " inspection, and put the newest copy made by `bghost backup` in its place"
        case .taken:
            "another program has the file open: end it, and use `bghost backup` to get a copy"
                + " that may be looked at"
        case .other where code & 0xFF == SQLITE_IOERR:
            "nothing more is written, since the disk may have lost what it was given: look at"
                + " the kernel's log, then start the daemon again"
        case .other: "nothing of it was kept"
        }
    }
}
