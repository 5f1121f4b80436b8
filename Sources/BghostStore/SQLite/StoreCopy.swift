// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// Checks of copies that no program uses; they read every page.
package enum StoreCopy {
    /// Checks that this version of bghost can start from a copy of a store, and marks it as a copy.
    ///
    /// The mark tells the next daemon that the store may be older than the lock file in its folder says. The copy
    /// is switched to write-ahead logging, so that the daemon does not have to do that.
    ///
    /// - Parameter backup: the file that was copied, for errors.
    package static func prepare(
        store path: String,
        from backup: String? = nil
    ) throws(StoreError) {
        let backup = backup ?? path
        let found = try StoreOpening(path: path, quickCheckMax: 0, backup: backup).find()
        defer { unlink(path + "-lock") }
        do throws(SQLiteFailure) {
            defer { found.close() }
            guard found.writer == nil else { throw .damaged("it is empty") }
            try checkPages(found.reader)
            // A start reads the rows, too.
            _ = try Recovery.read(found.reader, expecting: { _ in }, { _ in })
        } catch {
            throw error.error("read the store", in: backup, for: .restore)
        }
        do throws(SQLiteFailure) {
            try StoreBackup.mark(path)
            try useLog(path)
        } catch {
            throw error.error("mark the copy of the store", in: path, for: .restore)
        }
    }

    /// Checks that this version of bghost can start from a copy of the journal of transfers.
    ///
    /// - Parameter backup: the file that was copied, for errors.
    package static func check(
        transfers path: String,
        from backup: String? = nil
    ) throws(StoreError) {
        do throws(SQLiteFailure) {
            let reader = try Connection(
                path: path,
                isReadOnly: true,
                pragmas: "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF"
            )
            // Reading needs no error handling at the end.
            defer { try? reader.close() }
            let format = TransferSchema.format
            let version = try format.check(reader, advice: "restore it with that one")
            try checkPages(reader)
            // Rows of an earlier version are read when it is migrated.
            if version == Int64(format.version) { _ = try TransferTables.records(in: reader) }
        } catch {
            throw error.error("read the transfers", in: backup ?? path, for: .restore)
        }
    }

    private static func useLog(_ path: String) throws(SQLiteFailure) {
        let copy = try Connection(path: path, isReadOnly: false, pragmas: "")
        // A file system without shared memory is reported by the start.
        _ = try copy.useLog()
        try copy.close()
    }

    private static func checkPages(_ reader: Connection) throws(SQLiteFailure) {
        let report = try reader.text("PRAGMA quick_check(1)")
        guard report == "ok" else { throw .damaged(report) }
    }
}
