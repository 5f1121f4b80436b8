// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// Writes a copy of a store while it is in use.
///
/// The copy gets a temporary name, is synced, and then gets its final name in one step: an
/// interrupted copy never looks like a complete one.
struct StoreBackup {
    let source: String
    let target: String

    func run() throws(StoreError) {
        var status = stat()
        guard lstat(target, &status) != 0 else {
            throw StoreError("\(target) exists already; give a name that is free")
        }
        let unfinished = target + ".unfinished"
        unlink(unfinished)
        unlink(unfinished + "-journal")
        do throws(SQLiteFailure) {
            try copy(to: unfinished)
            try Self.mark(unfinished)
            try Folder.sync(contentsOf: unfinished)
            try give(unfinished, itsName: target)
            try Folder.sync(of: target)
        } catch {
            unlink(unfinished)
            throw error.error("write a copy of \(source)", in: target, for: .backup)
        }
    }

    /// Copies through another connection, so that neither commits nor queries wait for it.
    ///
    /// The copy reads every row, so a damaged page makes it fail instead of being copied.
    private func copy(to path: String) throws(SQLiteFailure) {
        let connection = try Connection(path: source, isReadOnly: true, pragmas: "")
        // Reading needs no error handling at the end.
        defer { try? connection.close() }
        try Self.copy(connection, to: path)
    }

    /// Copies what a connection sees into a new file that only its owner can read.
    static func copy(_ connection: Connection, to path: String) throws(SQLiteFailure) {
        // VACUUM INTO an existing empty file keeps its mode.
        let fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else {
            throw SQLiteFailure(
                code: SQLITE_CANTOPEN,
                systemError: errno,
                text: "cannot make \(path)"
            )
        }
        close(fd)
        let vacuum = try Statement("VACUUM INTO ?", on: connection)
        try vacuum.run { $0.add(path) }
    }

    /// Marks the copy.
    ///
    /// If it later replaces the store, its journal ends before the line in the lock file, which is
    /// then correct.
    static func mark(_ path: String) throws(SQLiteFailure) {
        let copy = try Connection(path: path, isReadOnly: false, pragmas: "")
        do throws(SQLiteFailure) {
            try copy.run("UPDATE meta SET copied = 1, clean = 1")
        } catch {
            // Report the earlier error.
            try? copy.close()
            throw error
        }
        try copy.close()
    }

    /// Links the file instead of renaming it, since a rename would replace a file created
    /// meanwhile.
    private func give(_ file: String, itsName name: String) throws(SQLiteFailure) {
        guard link(file, name) == 0 else {
            throw SQLiteFailure(
                code: SQLITE_CANTOPEN,
                systemError: errno,
                text: "cannot name it \(name)"
            )
        }
        unlink(file)
    }
}
