// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import Glibc

/// A file that is written beside its place, synced, and then renamed into it.
struct DurableFile: ~Copyable {
    private let descriptor: Int32
    private let path: String

    /// Creates a new file.
    ///
    /// - Parameter mode: its permissions, whatever the umask.
    init(creating path: String, mode: mode_t = 0o644) throws(BundleError) {
        // O_EXCL: it does not follow a link that another user put there.
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        self.path = path
        guard descriptor >= 0 else { throw Self.failure("write", path) }
        guard fchmod(descriptor, mode) == 0 else {
            let error = Self.failure("set the permissions of", path)
            close(descriptor)
            throw error
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func write(_ bytes: [UInt8]) throws(BundleError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("write", path) }
            rest = rest.dropFirst(count)
        }
    }

    func sync() throws(BundleError) {
        guard fsync(descriptor) == 0 else { throw Self.failure("write", path) }
    }

    /// Replaces a file by what the closure writes; after a failure the old one is still there.
    ///
    /// - Parameters:
    ///   - beside: the name of the new file until it is complete; `nil` makes one of the path.
    ///   - mode: the permissions of the new file, whatever the umask.
    static func replace(
        _ path: String,
        beside: String? = nil,
        mode: mode_t = 0o644,
        _ fill: (borrowing DurableFile) throws(BundleError) -> Void
    ) throws(BundleError) {
        let draft = beside ?? "\(folder(of: path))/.\(name(of: path)).\(getpid()).new"
        unlink(draft)
        do throws(BundleError) {
            let file = try DurableFile(creating: draft, mode: mode)
            try fill(file)
            try file.sync()
            guard rename(draft, path) == 0 else { throw failure("write", path) }
        } catch {
            unlink(draft)
            throw error
        }
        try sync(folder: folder(of: path))
    }

    /// Replaces a file that a person named: links to it and its permissions stay.
    static func replace(
        named path: String,
        _ fill: (borrowing DurableFile) throws(BundleError) -> Void
    ) throws(BundleError) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return try replace(path, fill) }
        guard stat(path, &facts) == 0, let resolved = realpath(path, nil) else {
            throw failure("write", path)
        }
        defer { free(resolved) }
        // A rename would put a file in the place of a device such as /dev/null.
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw BundleError(
                "cannot write \(path.quoted): it is no regular file",
                fix: "name another file; nothing was changed"
            )
        }
        try replace(String(cString: resolved), mode: facts.st_mode & 0o777, fill)
    }

    /// Makes the names in a folder durable.
    static func sync(folder path: String) throws(BundleError) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure("open the folder", path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure("sync the folder", path) }
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// The error for `errno`.
    static func failure(_ what: String, _ path: String) -> BundleError {
        let reason = String(cString: strerror(errno))
        return BundleError(
            "cannot \(what) \(path.quoted): \(reason)",
            fix: "check the space and the permissions there; nothing was changed"
        )
    }
}
