// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BghostTrust
internal import Glibc

/// Why a file of the log cannot be used: one sentence without a full stop.
package struct LogFileError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether the manifest must be changed, and not only a disk or a folder be repaired.
    package let isAboutKind: Bool

    init(_ description: String, isAboutKind: Bool = false) {
        self.description = description
        self.isAboutKind = isAboutKind
    }
}

/// The path of the log's file, and how it is opened.
struct LogPath: Equatable, Sendable {
    /// Absolute.
    let live: String
    /// The file may be where other users could replace it.
    let allowsUntrustedFiles: Bool

    /// The path of a renamed file; 1 is the newest one.
    func older(_ number: Int) -> String { "\(live).\(number)" }

    var folder: String { Self.folder(of: live) }

    private static func folder(of path: String) -> String {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Throws if something that is no ordinary file has the name.
    ///
    /// A missing file, folder or disk is no error here: it may come back.
    func checkKind() throws(LogFileError) {
        // What cannot be looked at is reported when it is opened.
        guard let facts = try? FileFacts(of: live, followsLinks: false) else { return }
        let what: String
        switch facts.kind {
        case .file: return
        case .folder: what = "a folder"
        case .link: what = "a symbolic link, which could lead the daemon to another file"
        case .socket: what = "a socket"
        case .other: what = "a FIFO or a device"
        }
        throw LogFileError(
            "\(live) is \(what), and the log needs an ordinary file; name another one in"
                + " `host.log.file`, or remove it",
            isAboutKind: true
        )
    }

    /// Opens the file to append, and makes it and its folder if they are missing.
    ///
    /// - Returns: a descriptor that the caller owns. Its file is locked for this process.
    func open() throws(LogFileError) -> Int32 {
        try checkKind()
        if access(folder, F_OK) != 0 {
            // Before it is made: below a link of another user, it would be made at the link's target.
            try checkTrust(Self.folder(of: folder))
            mkdir(folder, 0o750)
        }
        try checkTrust(folder)
        // Without O_NONBLOCK, a FIFO that has just taken the name would block this thread.
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let fd = Glibc.open(live, flags, 0o640)
        guard fd >= 0 else { throw Self.error("open", live) }
        var status = stat()
        guard fstat(fd, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(fd)
            throw LogFileError("\(live) is no ordinary file", isAboutKind: true)
        }
        // The umask of a service may take the group's right, which those who read logs need.
        if status.st_size == 0 { fchmod(fd, 0o640) }
        guard flock(fd, LOCK_EX | LOCK_NB) == 0 else {
            close(fd)
            throw LogFileError(
                "another process writes the log into \(live); give each bghost its own `host.log.file`"
            )
        }
        return fd
    }

    /// Throws if other users could replace what is in a folder; a missing one is found when the file is opened.
    private func checkTrust(_ folder: String) throws(LogFileError) {
        guard !allowsUntrustedFiles, access(folder, F_OK) == 0 else { return }
        do throws(TrustError) {
            try PathTrust.check(folder)
        } catch {
            throw LogFileError(
                "\(live) cannot be the log, since others could replace it: \(error.description)"
            )
        }
    }

    static func error(_ operation: String, _ path: String) -> LogFileError {
        LogFileError(SystemError(operation, path, code: errno).description)
    }
}
