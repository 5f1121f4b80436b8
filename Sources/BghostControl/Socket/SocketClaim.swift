// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
package import BghostRecords
internal import Glibc

/// The right to listen at a path, held for as long as the object lives.
///
/// The lock file beside the socket decides between daemons that start at the same moment; a socket
/// file alone cannot, since a stale one looks like a live one until it is tried.
package final class SocketClaim: Sendable {
    let path: String
    /// Where to bind: in a folder that nobody else can enter, so that the socket is never open to
    /// others, not even between `bind` and `chmod`.
    let bindingPath: String
    private let bindingFolder: String
    private let lock: Int32

    /// Checks the folder, takes the lock, and makes sure that nothing but a stale socket lies there.
    package init(path: String) throws(ControlFault) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        // Ten bytes: what is bound first has a name that can be longer than the final one.
        let bytesMax = UnixAddress.pathBytesMax
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0),
            path.utf8.count <= bytesMax, folder.utf8.count + 10 <= bytesMax
        else {
            throw ControlFault(
                .socketPath,
                "the control socket cannot be \(TerminalText.escaped(path)): an absolute path of "
                    + "at most \(bytesMax) bytes is needed, in a folder of at most \(bytesMax - 10)",
                fix: "choose another --control"
            )
        }
        try Self.checkFolder(folder)
        lock = try Self.takeLock(path + ".lock", of: path)
        do throws(ControlFault) {
            try Self.checkOccupant(path)
            // As short as can be: it shares the limit of the path.
            var template = Array((folder == "/" ? "/.XXXXXX" : folder + "/.XXXXXX").utf8CString)
            guard mkdtemp(&template) != nil else {
                throw Self.folderFault(folder, "cannot be written: \(Self.reason(errno))")
            }
            bindingFolder = String(
                decoding: template.dropLast().map(UInt8.init(bitPattern:)),
                as: UTF8.self
            )
        } catch {
            close(lock)
            throw error
        }
        bindingPath = bindingFolder + "/s"
        self.path = path
    }

    deinit {
        removeBindingFolder()
        close(lock)
    }

    /// Puts the bound socket into its place, in one step and with its mode.
    ///
    /// - Parameter group: that of the socket; `nil` leaves it as it is.
    func publish(mode: mode_t = 0o600, group: gid_t? = nil) throws(ControlFault) {
        if let group, chown(bindingPath, uid_t.max, group) != 0 {
            throw ControlFault(
                .socketFolder,
                "cannot give the control socket \(path) to group \(group): \(Self.reason(errno))",
                fix:
                    "run bghost as a member of the group that `host.controlGroup` names, or as root"
            )
        }
        guard chmod(bindingPath, mode) == 0, rename(bindingPath, path) == 0 else {
            throw ControlFault(
                .socketFolder,
                "cannot create the control socket \(path): \(Self.reason(errno))"
            )
        }
        removeBindingFolder()
    }

    private func removeBindingFolder() {
        unlink(bindingPath)
        rmdir(bindingFolder)
    }

    /// Removes the published socket.
    ///
    /// The lock is still held, so it is ours and not a successor's.
    func withdraw() {
        guard let facts = try? FileFacts(of: path, followsLinks: false), facts.kind == .socket
        else {
            return
        }
        unlink(path)
    }

    // MARK: - Checks

    private static func checkFolder(_ folder: String) throws(ControlFault) {
        let facts: FileFacts
        do throws(SystemError) {
            facts = try FileFacts(of: folder, followsLinks: true)
        } catch {
            throw folderFault(folder, "cannot be used: \(error.reason)")
        }
        guard facts.kind == .folder else { throw folderFault(folder, "is no folder") }
        guard facts.owner == geteuid() else {
            throw folderFault(folder, "belongs to another user (uid \(facts.owner))")
        }
        guard facts.permissions & 0o022 == 0 else {
            throw ControlFault(
                .socketFolder,
                "others may write to the control socket's folder \(folder)",
                fix: "chmod go-w \(folder)"
            )
        }
    }

    private static func folderFault(_ folder: String, _ what: String) -> ControlFault {
        ControlFault(
            .socketFolder,
            "the control socket's folder \(folder) \(what)",
            fix: "mkdir -m 0700 -p \(folder), or choose another --control or --state-dir"
        )
    }

    private static func takeLock(_ name: String, of path: String) throws(ControlFault) -> Int32 {
        // Without O_NOFOLLOW a link planted here would have a file of ours overwritten.
        let fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else {
            throw ControlFault(
                errno == EACCES ? .socketForbidden : .socketFolder,
                "cannot open \(name): \(reason(errno))"
            )
        }
        guard flock(fd, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            defer { close(fd) }
            guard code == EWOULDBLOCK else {
                throw ControlFault(.socketFolder, "cannot lock \(name): \(reason(code))")
            }
            var digits = [UInt8](repeating: 0, count: 16)
            let count = max(0, read(fd, &digits, digits.count))
            let pid = Int32(
                String(decoding: digits.prefix(count).prefix { $0 != 10 }, as: UTF8.self)
            )
            throw taken(path, by: pid)
        }
        // Only for people and for the message above; the lock itself is the kernel's.
        let line = Array("\(getpid())\n".utf8)
        guard ftruncate(fd, 0) == 0, pwrite(fd, line, line.count, 0) == line.count else {
            let code = errno
            close(fd)
            throw ControlFault(.socketFolder, "cannot write \(name): \(reason(code))")
        }
        return fd
    }

    private static func checkOccupant(_ path: String) throws(ControlFault) {
        guard let facts = try? FileFacts(of: path, followsLinks: false) else { return }
        guard facts.kind == .socket else {
            throw ControlFault(
                .notASocket,
                "\(path) exists and is not a socket, so it is left alone",
                fix: "move it away, or choose another --control"
            )
        }
        // The lock is ours, so whoever answers is some other program.
        switch UnixAddress.probe(path) {
        case .answered(let pid): throw taken(path, by: pid)
        case .failed(ECONNREFUSED), .failed(ENOENT): return
        case .failed(let code):
            throw ControlFault(
                .socketForbidden,
                "cannot tell who serves \(path): \(reason(code))",
                fix: "remove it if nobody does, or choose another --control"
            )
        }
    }

    private static func taken(_ path: String, by pid: Int32?) -> ControlFault {
        ControlFault(
            .socketTaken,
            pid.map { "process \($0) serves the control socket \(path) already" }
                ?? "another process serves the control socket \(path) already",
            fix: (pid.map { "stop it (kill \($0))" } ?? "stop it")
                + ", or choose another --state-dir or --control"
        )
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
