// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc

/// Operations on folders that are filled before they get their names.
enum NewFolder {
    static func make(_ path: String) throws(SystemError) {
        guard mkdir(path, 0o700) == 0 else { throw SystemError("make", path, code: errno) }
    }

    /// Gives a folder its name once its entries are on the disk.
    static func give(_ folder: String, itsName name: String) throws(SystemError) {
        try sync(folder)
        // A folder takes the place of nothing but an empty folder.
        try rename(folder, to: name)
        try sync(parent(of: name))
    }

    static func rename(_ path: String, to name: String) throws(SystemError) {
        guard Glibc.rename(path, name) == 0 else {
            throw SystemError("rename \(path) to", name, code: errno)
        }
    }

    /// Waits until the entries of a folder are on the disk.
    static func sync(_ path: String) throws(SystemError) {
        let fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard fd >= 0 else { throw SystemError("open", path, code: errno) }
        defer { close(fd) }
        guard fsync(fd) == 0 else { throw SystemError("sync", path, code: errno) }
    }

    /// The size of a file, bytes; `nil` if there is none.
    static func size(of path: String) -> UInt64? {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(max(0, status.st_size)) : nil
    }

    /// Whether a path names a folder, and no link to one, that has no entries.
    static func isEmpty(_ path: String) -> Bool {
        // What cannot be read is no folder, or may have entries.
        guard let facts = try? FileFacts(of: path, followsLinks: false), facts.kind == .folder,
            let names = try? FolderNames.of(path)
        else { return false }
        return names.isEmpty
    }

    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// The path without links; `nil` if it cannot be followed.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
