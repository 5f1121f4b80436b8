// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What a folder and all below it take of its file system, without following links.
///
/// Whoever may write there may change it meanwhile, or try to hide from it: what cannot be looked at
/// counts as too much.
package struct FolderUsage: Equatable, Sendable {
    /// What its files take of the disk, bytes; a file with holes takes what it has, and one with two names
    /// counts twice.
    package private(set) var bytes: UInt64 = 0
    /// Files, folders and links.
    package private(set) var entries = 0
    /// Why it was not looked at to its end; `nil` if it was.
    package private(set) var problem: Problem?

    package enum Problem: Equatable, Sendable {
        /// There is more than was asked about.
        case tooLarge
        case tooManyEntries
        case tooDeep
        /// A folder that cannot be opened, by its error.
        case closed(Int32)
    }

    /// How many folders may lie within one another; each holds a descriptor of ours.
    package static let depthMax = 32

    /// Looks at a folder; blocks for as long as that takes.
    ///
    /// Stops where there is more than `bytesMax` or `entriesMax`.
    package init(of path: String, bytesMax: UInt64, entriesMax: Int) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            // What is not there is nothing.
            if errno != ENOENT { problem = .closed(errno) }
            return
        }
        look(folder, depth: 1, bytesMax, entriesMax)
    }

    /// - Parameter folder: becomes this call's own.
    private mutating func look(
        _ folder: Int32,
        depth: Int,
        _ bytesMax: UInt64,
        _ entriesMax: Int
    ) {
        guard depth <= Self.depthMax, let stream = fdopendir(folder) else {
            problem = depth > Self.depthMax ? .tooDeep : .closed(errno)
            close(folder)
            return
        }
        defer { closedir(stream) }
        while problem == nil, let entry = readdir(stream) {
            let isFolder = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    add(name, in: folder, bytesMax, entriesMax)
                }
            }
            guard isFolder, problem == nil else { continue }
            let inner = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                }
            }
            guard inner >= 0 else {
                // Gone or another thing by now.
                if ![ENOENT, ENOTDIR, ELOOP].contains(errno) { problem = .closed(errno) }
                continue
            }
            look(inner, depth: depth + 1, bytesMax, entriesMax)
        }
    }

    /// - Returns: whether it is a folder to look into.
    private mutating func add(
        _ name: UnsafePointer<CChar>,
        in folder: Int32,
        _ bytesMax: UInt64,
        _ entriesMax: Int
    ) -> Bool {
        if strcmp(name, ".") == 0 || strcmp(name, "..") == 0 { return false }
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        entries += 1
        bytes += UInt64(max(0, status.st_blocks)) * 512
        if entries > entriesMax { problem = .tooManyEntries }
        if bytes > bytesMax { problem = .tooLarge }
        return status.st_mode & S_IFMT == S_IFDIR
    }
}
