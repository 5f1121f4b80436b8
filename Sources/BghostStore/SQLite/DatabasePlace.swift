// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// The files of an open database, to notice that they were removed, replaced or moved away.
///
/// SQLite goes on to write into a file without a name, and syncs it: what is accepted then would be gone with the
/// process. A question costs two `stat` calls.
///
/// `@unchecked`: only the part of the store that has the connection uses it.
final class DatabasePlace: @unchecked Sendable {
    private struct File: Equatable {
        let device: dev_t
        let number: ino_t

        /// `nil` if it cannot be found.
        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            (device, number) = (facts.st_dev, facts.st_ino)
        }
    }

    private let path: String
    private let database: File
    /// The `-wal`, once there is one: SQLite makes it before the first transaction.
    private var log: File?

    /// - Returns: `nil` for a database without a file.
    init?(_ path: String) {
        guard let file = File(path) else { return nil }
        self.path = path
        database = file
    }

    /// Throws if one of the files is no longer where it was opened.
    func check() throws(SQLiteFailure) {
        guard File(path) == database else { throw Self.moved("its file") }
        let log = File(path + "-wal")
        guard self.log == nil || self.log == log else { throw Self.moved("its -wal") }
        self.log = log
    }

    private static func moved(_ what: String) -> SQLiteFailure {
        SQLiteFailure(
            code: SQLiteFailure.movedCode,
            text: "\(what) was removed, replaced or moved away while bghost had it open"
        )
    }
}
