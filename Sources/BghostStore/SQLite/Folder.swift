// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// Operations on the folder of a file, and syncs.
enum Folder {
    static func path(of file: String) -> String {
        guard let slash = file.lastIndex(of: "/") else { return "." }
        return slash == file.startIndex ? "/" : String(file[..<slash])
    }

    /// Waits until the entries of the folder are on the disk.
    static func sync(of file: String) throws(SQLiteFailure) {
        try sync(file: path(of: file), flags: O_RDONLY | O_DIRECTORY)
    }

    /// Waits until a file is on the disk; SQLite must not have it open.
    static func sync(contentsOf file: String) throws(SQLiteFailure) {
        try sync(file: file, flags: O_RDONLY)
    }

    private static func sync(file: String, flags: Int32) throws(SQLiteFailure) {
        let fd = open(file, flags | O_CLOEXEC)
        guard fd >= 0 else {
            throw SQLiteFailure(
                code: SQLITE_CANTOPEN,
                systemError: errno,
                text: "cannot open \(file)"
            )
        }
        defer { close(fd) }
        guard fsync(fd) == 0 else {
            throw SQLiteFailure(code: SQLITE_IOERR, systemError: errno, text: "cannot sync \(file)")
        }
    }
}
