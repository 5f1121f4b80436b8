// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostLinux
internal import Glibc

/// The exclusive right to listen at a path, held for the lifetime of the object.
///
/// The lock file beside the socket decides between daemons that start at the same time. A socket file alone
/// cannot: a stale socket is recognized only by an attempt to connect.
package final class SocketClaim: Sendable {
    let path: String
    /// The path to bind, in a folder that other users cannot enter: the socket is never open to others, not
    /// even between `bind` and `chmod`.
    let bindingPath: String
    /// The socket that the service manager opened at the path; `nil` if the daemon opens it.
    let inherited: Int32?
    private let bindingFolder: String
    private let lock: Int32

    /// Checks the folder, takes the lock, and verifies that the path is free or has a stale socket.
    ///
    /// - Parameters:
    ///   - inherited: a socket that already listens at the path. Its owner, the service manager,
    ///     creates and removes the file.
    ///   - lockWait: how long the lock and the socket of a daemon that has ended may be in use, milliseconds.
    package init(
        path: String,
        inherited: Int32? = nil,
        lockWait: Int64 = 10_000
    ) throws(ControlFault) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0),
            SocketPath.fits(path)
        else {
            throw ControlFault(
                .socketPath,
                "the control socket cannot be \(TerminalText.escaped(path)): an absolute path of "
                    + "at most \(SocketPath.bytesMax) bytes is needed, in a folder of at most "
                    + "\(SocketPath.folderBytesMax)",
                fix: "choose another --control"
            )
        }
        try Self.checkFolder(folder)
        lock = try Self.takeLock(path + ".lock", of: path, wait: lockWait)
        self.path = path
        self.inherited = inherited
        guard inherited == nil else {
            (bindingFolder, bindingPath) = ("", "")
            return
        }
        do throws(ControlFault) {
            try Self.checkOccupant(path, wait: lockWait)
            // Use a short name, because the limit of the path applies to it too.
            var template = Array((folder == "/" ? "/.XXXXXX" : folder + "/.XXXXXX").utf8CString)
            guard mkdtemp(&template) != nil else {
                throw Self.folderFault(folder, "cannot be written: \(Self.reason(errno))")
            }
            bindingFolder = String(
                decoding: template.dropLast().map(UInt8.init(bitPattern:)),
                as: UTF8.self
            )
        } catch {
            LockFile.release(lock)
            throw error
        }
        bindingPath = bindingFolder + "/s"
    }

    deinit {
        removeBindingFolder()
        LockFile.release(lock)
    }

    /// Moves the bound socket to its path, atomically and with its mode.
    ///
    /// - Parameter group: the group of the socket; `nil` does not change it.
    func publish(mode: mode_t = 0o600, group: gid_t? = nil) throws(ControlFault) {
        guard inherited == nil else { return try checkInherited(group: group) }
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

    /// Checks that members of the group can use the inherited socket, whose mode is not the daemon's.
    private func checkInherited(group: gid_t?) throws(ControlFault) {
        guard let group else { return }
        let facts: FileFacts
        do throws(SystemError) {
            facts = try FileFacts(of: path, followsLinks: false)
        } catch {
            throw ControlFault(
                .socketFolder,
                "cannot look at the control socket \(path): \(error.reason)"
            )
        }
        guard facts.group == group, facts.permissions & 0o060 == 0o060 else {
            throw ControlFault(
                .socketFolder,
                "`host.controlGroup` names group \(group), whose members cannot use the socket \(path)"
                    + " that the service manager opened",
                fix: "set SocketGroup= and SocketMode=0660 in its socket unit"
            )
        }
    }

    private func removeBindingFolder() {
        guard inherited == nil else { return }
        unlink(bindingPath)
        rmdir(bindingFolder)
    }

    /// Removes the published socket, unless the service manager opened it.
    ///
    /// The lock is still held, so the socket is not that of another daemon.
    func withdraw() {
        guard inherited == nil else { return }
        // If the status cannot be read, the removal would fail too; the next daemon removes the socket.
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

    private static func takeLock(
        _ name: String,
        of path: String,
        wait: Int64
    ) throws(ControlFault) -> Int32 {
        do throws(LockFault) {
            return try LockFile.claim(name, deadOwnerWait: wait)
        } catch {
            throw switch error {
            case .held(let owner): taken(path, by: owner)
            case .cannotLock(let code):
                ControlFault(
                    code == EACCES ? .socketForbidden : .socketFolder,
                    "cannot lock \(name): \(reason(code))"
                )
            case .cannotWrite(let code):
                ControlFault(.socketFolder, "cannot write \(name): \(reason(code))")
            }
        }
    }

    private static func checkOccupant(_ path: String, wait: Int64) throws(ControlFault) {
        // Usually the path is free; other errors occur again when the socket is moved there.
        guard let facts = try? FileFacts(of: path, followsLinks: false) else { return }
        guard facts.kind == .socket else {
            throw ControlFault(
                .notASocket,
                "\(path) exists and is not a socket, so it is left alone",
                fix: "move it away, or choose another --control"
            )
        }
        // This process holds the lock, so another program listens there.
        switch UnixAddress.probe(path, deadListenerWait: wait) {
        case .answered(let pid): throw taken(path, by: pid)
        case .failed(ECONNREFUSED), .failed(ENOENT): return
        case .failed(let code):
            throw ControlFault(
                .socketForbidden,
                "cannot tell who serves \(path): \(reason(code))",
                fix: "remove it if no process does, or choose another --control"
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
