// SPDX-License-Identifier: Apache-2.0

internal import GRDBSQLite
internal import Glibc

/// Writes a copy of a store while it is in use.
///
/// The copy is made under another name, synced, and then gets its own in one step: a copy that was
/// cut short never looks like a whole one.
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
        do throws(SQLiteFailure) {
            try copy(to: unfinished)
            try mark(unfinished)
            try Folder.sync(contentsOf: unfinished)
            try give(unfinished, itsName: target)
            try Folder.sync(of: target)
        } catch {
            unlink(unfinished)
            throw error.error("write a copy of \(source)", in: target)
        }
    }

    /// Copies on a connection of its own, so that neither commits nor questions wait for it.
    ///
    /// It reads every row, so a damaged page ends it instead of being copied.
    private func copy(to path: String) throws(SQLiteFailure) {
        // VACUUM INTO an empty file keeps its mode.
        let fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else {
            throw SQLiteFailure(
                code: SQLITE_CANTOPEN,
                systemError: errno,
                text: "cannot make \(path)"
            )
        }
        close(fd)
        let connection = try Connection(path: source, isReadOnly: true)
        defer { try? connection.close() }
        let vacuum = try Statement("VACUUM INTO ?", on: connection.handle)
        try vacuum.run { $0.add(path) }
    }

    /// A copy that is put in the place of the store ends before what the lock file tells of, and
    /// rightly so.
    private func mark(_ path: String) throws(SQLiteFailure) {
        let copy = try Connection(path: path, isReadOnly: false)
        do throws(SQLiteFailure) {
            try copy.run("UPDATE meta SET copied = 1, clean = 1")
        } catch {
            try? copy.close()
            throw error
        }
        try copy.close()
    }

    /// A second name and not a renaming, which would replace a file that is there by now.
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
