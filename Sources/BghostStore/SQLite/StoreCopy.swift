// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// Checks of copies that no program uses; they read every page.
package enum StoreCopy {
    /// Checks that this version of bghost can start from a copy of a store, and marks it as a copy.
    ///
    /// The mark tells the next daemon that the store may be older than the lock file in its folder says.
    package static func prepare(store path: String) throws(StoreError) {
        let found = try StoreOpening(path: path, quickCheckMax: 0).find()
        defer { unlink(path + "-lock") }
        do throws(SQLiteFailure) {
            defer { found.close() }
            guard found.writer == nil else { throw .damaged("it is empty") }
            try checkPages(found.reader)
        } catch {
            throw error.error("read the backup of the store", in: path)
        }
        do throws(SQLiteFailure) {
            try StoreBackup.mark(path)
        } catch {
            throw error.error("mark the copy of the store", in: path)
        }
    }

    /// Checks that this version of bghost can read a copy of the journal of transfers.
    package static func check(transfers path: String) throws(StoreError) {
        do throws(SQLiteFailure) {
            let reader = try Connection(
                path: path,
                isReadOnly: true,
                pragmas: "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF"
            )
            // Reading needs no error handling at the end.
            defer { try? reader.close() }
            _ = try TransferSchema.format.check(reader, advice: "restore it with that one")
            try checkPages(reader)
        } catch {
            throw error.error("read the backup of the transfers", in: path)
        }
    }

    private static func checkPages(_ reader: Connection) throws(SQLiteFailure) {
        let report = try reader.text("PRAGMA quick_check(1)")
        guard report == "ok" else { throw .damaged(report) }
    }
}
