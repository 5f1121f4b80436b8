// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// The disk usage of a folder and everything below it, without following links.
///
/// Untrusted processes may change the folder meanwhile or try to hide files: a part that cannot be
/// read counts as an excess.
package struct FolderUsage: Equatable, Sendable {
    /// The disk space of its files, bytes.
    ///
    /// A sparse file counts its allocated blocks; a file with two names counts twice.
    private(set) var bytes: UInt64 = 0
    /// The number of files, folders and links.
    package private(set) var entries = 0
    /// Why the count is incomplete; `nil` if it is complete.
    package private(set) var problem: Problem?

    /// The size, bytes; `nil` if the count is incomplete.
    package var completeBytes: UInt64? { problem == nil ? bytes : nil }

    /// The names of the first files from which the set-user-ID and set-group-ID bits were removed.
    package private(set) var stripped: [String] = []
    /// Whether a folder disappeared during the count.
    private var isUnsteady = false
    /// Whether a file disappeared during the count.
    private var isIncomplete = false
    private var isRoot = geteuid() == 0
    /// How many files were looked at again.
    private var again = 0

    package enum Problem: Equatable, Sendable {
        /// The folder exceeds `bytesMax`.
        case tooLarge
        case tooManyEntries
        case tooDeep
        /// A folder cannot be opened; the value is the error number.
        case closed(Int32)
        /// Folders were moved or removed during every attempt.
        case unsteady
        /// The set-ID bits of a program could not be removed; the value is the error number.
        case setID(Int32)
    }

    /// The deepest nesting of folders; each level holds one descriptor of this process.
    package static let depthMax = 32

    /// How often the count is repeated when folders disappear during it.
    private static let looksMax = 8
    /// DT_DIR.
    private static let folderType: Int32 = 4
    /// O_PATH, which the Swift importer hides.
    private static let pathOnly: Int32 = 0o10_000_000
    /// SEEK_HOLE, which the Swift importer hides.
    private static let seekHole: Int32 = 4
    /// How many sparse files of one count are looked at again, which takes a millisecond each.
    private static let againMax = 16
    /// The most file names that `stripped` keeps.
    private static let namesMax = 8

    /// Counts a folder; blocks until it is done.
    ///
    /// It stops when it exceeds `bytesMax` or `entriesMax`. On the way it removes set-user-ID and
    /// set-group-ID from files, and capabilities from programs.
    ///
    /// - Parameters:
    ///   - besides: bytes that are known to be taken besides.
    ///   - entering: is told of each folder below before it is opened.
    package init(
        of path: String,
        besides: UInt64 = 0,
        bytesMax: UInt64,
        entriesMax: Int,
        entering: (String) -> Void = { _ in }
    ) {
        var most: FolderUsage?
        for _ in 0..<Self.looksMax {
            let before = stripped
            self = FolderUsage(once: path, besides, bytesMax, entriesMax, entering)
            stripped = before + stripped
            again = 0
            if problem != nil { return }
            // A renamed file may have been missed, and a removed one did exist: keep the larger
            // values.
            if let most {
                bytes = max(bytes, most.bytes)
                entries = max(entries, most.entries)
            }
            guard isUnsteady || isIncomplete else { return }
            most = self
        }
        // Files may come and go, but folders that disappear in every attempt indicate hiding.
        if isUnsteady { problem = .unsteady }
    }

    private init(
        once path: String,
        _ besides: UInt64,
        _ bytesMax: UInt64,
        _ entriesMax: Int,
        _ entering: (String) -> Void
    ) {
        bytes = besides
        if bytes > bytesMax { problem = .tooLarge }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            // A missing folder has no usage.
            if errno != ENOENT { problem = .closed(errno) }
            return
        }
        scan(folder, depth: 1, bytesMax, entriesMax, entering)
    }

    /// - Parameter folder: a descriptor; this call takes ownership of it.
    private mutating func scan(
        _ folder: Int32,
        depth: Int,
        _ bytesMax: UInt64,
        _ entriesMax: Int,
        _ entering: (String) -> Void
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
                    add(name, Int32(entry.pointee.d_type), in: folder, bytesMax, entriesMax)
                }
            }
            guard isFolder, problem == nil else { continue }
            let inner = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    entering(String(cString: name))
                    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                }
            }
            guard inner >= 0 else {
                // The folder was moved or replaced: it may now be where the count has already been.
                if [ENOENT, ENOTDIR, ELOOP].contains(errno) {
                    isUnsteady = true
                } else {
                    problem = .closed(errno)
                }
                continue
            }
            scan(inner, depth: depth + 1, bytesMax, entriesMax, entering)
        }
    }

    /// - Returns: whether it is a folder to descend into.
    private mutating func add(
        _ name: UnsafePointer<CChar>,
        _ type: Int32,
        in folder: Int32,
        _ bytesMax: UInt64,
        _ entriesMax: Int
    ) -> Bool {
        if strcmp(name, ".") == 0 || strcmp(name, "..") == 0 { return false }
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno != ENOENT {
                problem = .closed(errno)
            } else if type == Self.folderType {
                isUnsteady = true
            } else {
                isIncomplete = true
            }
            return false
        }
        let kind = status.st_mode & S_IFMT
        if kind == S_IFREG, status.st_mode & (S_ISUID | S_ISGID) != 0 { strip(name, in: folder) }
        if kind == S_IFREG, status.st_mode & 0o111 != 0 { stripCapabilities(name, in: folder) }
        entries += 1
        bytes += blocks(of: name, in: folder, status) * 512
        if entries > entriesMax { problem = .tooManyEntries }
        if bytes > bytesMax { problem = .tooLarge }
        return kind == S_IFDIR
    }

    /// The blocks of a file, each of 512 bytes.
    ///
    /// While the kernel writes a file back, ext4 reports too few blocks: it took all 3 MiB of a file away for up to
    /// 53 µs on a busy machine, and for longer if the processor is taken away in that moment. So a file with fewer
    /// blocks than its length counts its length if it has no hole. A sparse one is looked at again.
    private mutating func blocks(
        of name: UnsafePointer<CChar>,
        in folder: Int32,
        _ status: stat
    ) -> UInt64 {
        var blocks = status.st_blocks
        guard status.st_mode & S_IFMT == S_IFREG, blocks < status.st_size / 512 else {
            return UInt64(max(0, blocks))
        }
        if let length = Self.lengthWithoutHoles(of: name, in: folder, status) {
            return UInt64(max(blocks, length / 512))
        }
        guard again < Self.againMax else { return UInt64(max(0, blocks)) }
        again += 1
        for _ in 0..<3 {
            usleep(300)
            var next = stat()
            guard fstatat(folder, name, &next, AT_SYMLINK_NOFOLLOW) == 0,
                next.st_ino == status.st_ino
            else { break }
            blocks = max(blocks, next.st_blocks)
        }
        return UInt64(max(0, blocks))
    }

    /// The length of a file on ext4 without a hole, bytes; `nil` if it has one or lies on another file system.
    ///
    /// Other file systems can have fewer blocks than the length for good, because they compress.
    private static func lengthWithoutHoles(
        of name: UnsafePointer<CChar>,
        in folder: Int32,
        _ status: stat
    ) -> Int? {
        // Without O_NONBLOCK, a lease of another process would make this call wait.
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var opened = stat()
        guard bgs_is_on_ext(file) != 0, fstat(file, &opened) == 0,
            opened.st_ino == status.st_ino, lseek(file, 0, seekHole) >= opened.st_size
        else { return nil }
        return opened.st_size
    }

    /// Removes set-user-ID and set-group-ID from a file.
    ///
    /// It uses a descriptor, so that it changes this file wherever its name leads meanwhile. A file
    /// with several hard links may be a system program that was linked here: then only this name is
    /// removed.
    private mutating func strip(_ name: UnsafePointer<CChar>, in folder: Int32) {
        if stripped.count < Self.namesMax { stripped.append(String(cString: name)) }
        let file = openat(folder, name, Self.pathOnly | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        let result =
            status.st_nlink > 1
            ? unlinkat(folder, name, 0)
            : chmod("/proc/self/fd/\(file)", status.st_mode & 0o1777)
        if result != 0, errno != ENOENT { problem = .setID(errno) }
    }

    /// Removes capabilities from a program; nothing without root, whom alone they would give rights of.
    private mutating func stripCapabilities(_ name: UnsafePointer<CChar>, in folder: Int32) {
        guard isRoot else { return }
        let file = openat(folder, name, Self.pathOnly | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        let path = "/proc/self/fd/\(file)"
        guard bgs_has_capabilities(path) != 0 else { return }
        if stripped.count < Self.namesMax { stripped.append(String(cString: name)) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return }
        guard status.st_nlink > 1 else {
            let result = bgs_remove_capabilities(path)
            if result != 0 { problem = .setID(0 - result) }
            return
        }
        if unlinkat(folder, name, 0) != 0, errno != ENOENT { problem = .setID(errno) }
    }
}
