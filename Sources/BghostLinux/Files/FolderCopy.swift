// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A copy of a folder and everything below it, without following links.
///
/// Untrusted processes may change the folder meanwhile: what they remove is left out, and no name leads
/// out of it. Files keep their contents with their holes, permissions and times, but no set-user-ID and
/// set-group-ID bits; everything belongs to the user of this process.
package struct FolderCopy: Equatable, Sendable {
    /// The number of copied files, folders and links.
    package private(set) var entries = 0
    /// The length of the copied data without holes, bytes.
    package private(set) var bytes: UInt64 = 0
    /// The number of entries that are not copied: sockets, devices, what may not be read, and folders that
    /// are too deep.
    ///
    /// They are no error, or one plugin could prevent the copies of all others.
    package private(set) var omitted = 0

    /// The deepest nesting of folders; each level holds two descriptors of this process.
    package static let depthMax = FolderUsage.depthMax
    /// The data that is copied at a time, bytes.
    private static let pieceBytes = 1 << 20

    /// SEEK_DATA and SEEK_HOLE, which the Swift importer hides.
    private static let seekData: Int32 = 3
    private static let seekHole: Int32 = 4

    package init() {}

    /// Copies a folder; blocks until all of it is on the disk.
    ///
    /// - Parameter target: must not exist; its parent must. A failed call leaves a part of it.
    package mutating func copy(_ source: String, to target: String) throws(SystemError) {
        let from = Descriptor(
            owning: try Self.must(
                open(source, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                "open",
                source
            )
        )
        try Self.must(mkdir(target, 0o700), "make", target)
        let to = Descriptor(
            owning: try Self.must(
                open(target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                "open",
                target
            )
        )
        try copyEntries(from.raw, to.raw, source, depth: 1)
    }

    /// Copies a single file; blocks until it is on the disk.
    ///
    /// - Parameter target: must not exist.
    package mutating func copyFile(_ source: String, to target: String) throws(SystemError) {
        let from = try Self.must(
            open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC),
            "open",
            source
        )
        try copyContents(owning: from, in: AT_FDCWD, Array(target.utf8CString), source)
    }

    // MARK: Folders

    /// - Parameter path: of the source, for messages.
    private mutating func copyEntries(
        _ source: Int32,
        _ target: Int32,
        _ path: String,
        depth: Int
    ) throws(SystemError) {
        for name in try Self.names(in: source, path) {
            var status = stat()
            guard fstatat(source, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            let inner = path + "/" + Self.text(name)
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try copyFolder(name, source, target, inner, depth: depth)
            case S_IFREG:
                let file = openat(
                    source,
                    name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
                )
                // It was removed or replaced since.
                if file < 0, [ENOENT, ELOOP, ENXIO].contains(errno) { continue }
                if file < 0, errno == EACCES {
                    omitted += 1
                    continue
                }
                try copyContents(
                    owning: try Self.must(file, "open", inner),
                    in: target,
                    name,
                    inner
                )
            case S_IFLNK: try copyLink(name, source, target, inner)
            default: omitted += 1
            }
        }
        try Self.must(fsync(target), "sync the copy of", path)
    }

    private mutating func copyFolder(
        _ name: [CChar],
        _ source: Int32,
        _ target: Int32,
        _ path: String,
        depth: Int
    ) throws(SystemError) {
        let opened = openat(source, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if opened < 0, [ENOENT, ENOTDIR, ELOOP].contains(errno) { return }
        guard depth < Self.depthMax, opened >= 0 || errno != EACCES else {
            if opened >= 0 { close(opened) }
            omitted += 1
            return
        }
        let from = Descriptor(owning: try Self.must(opened, "open", path))
        try Self.must(mkdirat(target, name, 0o700), "make a copy of", path)
        let to = Descriptor(
            owning: try Self.must(
                openat(target, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                "open the copy of",
                path
            )
        )
        try copyEntries(from.raw, to.raw, path, depth: depth + 1)
        try Self.copyAttributes(of: from.raw, to: to.raw, path)
        entries += 1
    }

    private static func text(_ name: [CChar]) -> String {
        String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The names in a folder, except `.` and `..`; a name is bytes, and not always text.
    ///
    /// A name that is removed and made again meanwhile can be read twice.
    private static func names(
        in folder: Int32,
        _ path: String
    ) throws(SystemError) -> Set<[CChar]> {
        // The stream owns its descriptor.
        let copy = try Self.must(fcntl(folder, F_DUPFD_CLOEXEC, 0), "open", path)
        guard let stream = fdopendir(copy) else {
            close(copy)
            throw SystemError("read", path, code: errno)
        }
        defer { closedir(stream) }
        var names: Set<[CChar]> = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
            }
            if strcmp(name, ".") != 0, strcmp(name, "..") != 0 { names.insert(name) }
        }
        return names
    }

    // MARK: Files

    private mutating func copyContents(
        owning file: Int32,
        in folder: Int32,
        _ name: [CChar],
        _ path: String
    ) throws(SystemError) {
        let from = Descriptor(owning: file)
        var status = stat()
        try Self.must(fstat(from.raw, &status), "stat", path)
        guard status.st_mode & S_IFMT == S_IFREG else {
            omitted += 1
            return
        }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let to = Descriptor(
            owning: try Self.must(openat(folder, name, flags, 0o600), "make a copy of", path)
        )
        // What is appended from now on is not copied, so that a growing file has an end.
        let size = off_t(max(0, status.st_size))
        var position: off_t = 0
        while position < size {
            position = lseek(from.raw, position, Self.seekData)
            // Only a hole is left.
            guard position >= 0, position < size else { break }
            let hole = lseek(from.raw, position, Self.seekHole)
            let end = min(hole > position ? hole : size, size)
            try copyStretch(from.raw, to.raw, position..<end, path)
            position = end
        }
        try Self.must(ftruncate(to.raw, size), "write a copy of", path)
        try Self.copyAttributes(of: from.raw, to: to.raw, path)
        try Self.must(fsync(to.raw), "sync the copy of", path)
        entries += 1
    }

    private mutating func copyStretch(
        _ source: Int32,
        _ target: Int32,
        _ range: Range<off_t>,
        _ path: String
    ) throws(SystemError) {
        var buffer = [UInt8](repeating: 0, count: min(Self.pieceBytes, range.count))
        var position = range.lowerBound
        while position < range.upperBound {
            let count = pread(
                source,
                &buffer,
                min(buffer.count, Int(range.upperBound - position)),
                position
            )
            try Self.must(count, "read", path)
            guard count > 0 else { return }
            var written = 0
            while written < count {
                let more = buffer.withUnsafeBytes { buffer in
                    pwrite(
                        target,
                        buffer.baseAddress.map { $0 + written },
                        count - written,
                        position + off_t(written)
                    )
                }
                try Self.must(more, "write a copy of", path)
                written += more
            }
            position += off_t(count)
            bytes += UInt64(count)
        }
    }

    private mutating func copyLink(
        _ name: [CChar],
        _ source: Int32,
        _ target: Int32,
        _ path: String
    ) throws(SystemError) {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(source, name, &buffer, buffer.count - 1)
        // It was removed or replaced since.
        guard count > 0 else { return }
        try Self.must(symlinkat(buffer, target, name), "make a copy of", path)
        entries += 1
    }

    private static func copyAttributes(
        of source: Int32,
        to target: Int32,
        _ path: String
    ) throws(SystemError) {
        var status = stat()
        try Self.must(fstat(source, &status), "stat", path)
        try Self.must(fchmod(target, status.st_mode & 0o1777), "set the mode of the copy of", path)
        let times = [status.st_atim, status.st_mtim]
        try Self.must(futimens(target, times), "set the times of the copy of", path)
    }

    /// The result of a call of the C library, unless it failed.
    @discardableResult
    private static func must<Number: SignedInteger>(
        _ result: Number,
        _ operation: String,
        _ path: String
    ) throws(SystemError) -> Number {
        guard result >= 0 else { throw SystemError(operation, path, code: errno) }
        return result
    }
}
