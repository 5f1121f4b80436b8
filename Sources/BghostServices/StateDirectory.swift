// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostTrust
internal import Glibc
internal import Synchronization

/// The daemon's folder, locked: its store and a data directory for each plugin.
package final class StateDirectory: Sendable {
    /// The name of the store in the folder.
    package static let storeName = "bghost.sqlite"
    /// The name of the journal of transfers, which only a daemon with transfers has.
    package static let transfersName = "transfers.sqlite"
    /// The name of the folder with the data directories of the plugins.
    package static let dataName = "data"
    /// The name of the folder in which a restore copies a backup; it remains after an interruption.
    package static let unfinishedRestoreName = "restore.unfinished"

    package let path: String
    /// The descriptor of the lock; `nil` after `unlock`.
    private let lock: Mutex<Int32?>

    /// Creates the folder if it does not exist, and locks it for a restore into it.
    ///
    /// The calling thread blocks for up to 10 s while the lock of a daemon that has ended is in use.
    package convenience init(forRestoreInto path: String) throws(HostError) {
        try self.init(path, isForRestore: true, allowsUntrustedFiles: false, deadOwnerWait: 10_000)
    }

    /// Creates the folder if it does not exist, and locks it for a daemon.
    ///
    /// - Parameters:
    ///   - allowsUntrustedFiles: whether other users may be able to change the folders in its path.
    ///   - deadOwnerWait: how long the lock of a daemon that has ended may be in use, milliseconds; the
    ///     calling thread blocks.
    /// - Throws: also if a restore into the folder was interrupted before it put the store there.
    package convenience init(
        _ path: String,
        allowsUntrustedFiles: Bool,
        deadOwnerWait: Int64 = 10_000
    ) throws(HostError) {
        try self.init(
            path,
            isForRestore: false,
            allowsUntrustedFiles: allowsUntrustedFiles,
            deadOwnerWait: deadOwnerWait
        )
    }

    private init(
        _ path: String,
        isForRestore: Bool,
        allowsUntrustedFiles: Bool,
        deadOwnerWait: Int64
    ) throws(HostError) {
        self.path = path
        // Check before creating: below a symbolic link of another user, it would be created at the
        // link's target.
        if !allowsUntrustedFiles { try Self.checkTrust(Self.existing(path), of: path) }
        try Self.makeDirectory(path)
        // Check the complete path again: in a folder such as /tmp another user may have created a part of it.
        if !allowsUntrustedFiles { try Self.checkTrust(path, of: path) }
        try Self.makeDirectory("\(path)/\(Self.dataName)")
        lock = Mutex(try Self.lock(path, deadOwnerWait))
        // Check with the lock: a restore that is under way is not an interrupted one.
        if !isForRestore { try checkRestore() }
    }

    deinit { unlock() }

    /// The paths of the files of the store; a daemon that runs has all of them.
    package var storeFiles: [String] {
        ["", "-wal", "-shm"].map { "\(path)/\(Self.storeName)\($0)" }
    }

    /// Releases the lock, so that another daemon can use the folder.
    package func unlock() {
        lock.withLock { lock in
            if let fd = lock { LockFile.release(fd) }
            lock = nil
        }
    }

    /// The folder of the data directories.
    package var dataFolder: String { "\(path)/\(Self.dataName)" }

    /// The data directory of a plugin, which is created if it does not exist.
    package func dataDirectory(of plugin: String) throws(HostError) -> String {
        let path = "\(dataFolder)/\(plugin)"
        try Self.makeDirectory(path)
        return path
    }

    // MARK: Loading into this process

    /// Records on the disk that a plugin is being loaded into this process, in case the process dies.
    package func beginLoading(_ plugin: String) {
        let fd = open(mark(plugin), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if fd >= 0 { close(fd) }
    }

    package func endLoading(_ plugin: String) { unlink(mark(plugin)) }

    /// Whether an earlier process died while it loaded a plugin; the call clears the record.
    package func takeUnfinishedLoad(_ plugin: String) -> Bool { unlink(mark(plugin)) == 0 }

    private func mark(_ plugin: String) -> String { "\(path)/loading-\(plugin)" }

    /// The longest existing part of the path to a folder's parent, links included.
    private static func existing(_ path: String) -> String {
        var there = "/"
        for part in path.split(separator: "/").dropLast() {
            let next = there + (there == "/" ? "" : "/") + part
            var status = stat()
            guard lstat(next, &status) == 0 else { return there }
            there = next
        }
        return there
    }

    /// Throws if users other than root and the daemon's can change a folder in the path.
    private static func checkTrust(_ way: String, of path: String) throws(HostError) {
        do throws(TrustError) {
            try PathTrust.check(way)
        } catch {
            throw .stateDirectory(
                "\(path) cannot be the state directory, since others could put another one in its"
                    + " place: \(error.description); or name another one with --state-dir"
            )
        }
    }

    private static func makeDirectory(_ path: String) throws(HostError) {
        var parents = ""
        for part in path.split(separator: "/").dropLast() {
            parents += "/" + part
            mkdir(parents, 0o755)
        }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            let reason = String(cString: strerror(errno))
            throw .stateDirectory(
                "cannot make the state directory \(path): \(reason); name another one with"
                    + " --state-dir or `host.stateDirectory`"
            )
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .stateDirectory("\(path) is not a directory; name another one with --state-dir")
        }
        guard status.st_uid == getuid() else {
            throw .stateDirectory(
                "\(path) belongs to user \(status.st_uid), not to user \(getuid()), who runs bghost;"
                    + " chown it or name another one with --state-dir"
            )
        }
        guard access(path, W_OK | X_OK) == 0 else {
            throw .stateDirectory(
                "cannot write into \(path): \(String(cString: strerror(errno)));"
                    + " name another one with --state-dir"
            )
        }
    }

    /// Throws if a restore was interrupted when the store was not in the folder.
    ///
    /// A new folder has no lock file of a store that would tell of it, so the daemon would begin with nothing.
    private func checkRestore() throws(HostError) {
        func isThere(_ name: String) -> Bool {
            var status = stat()
            return lstat("\(path)/\(name)", &status) == 0
        }
        guard isThere(Self.unfinishedRestoreName), !isThere(Self.storeName) else { return }
        throw .stateDirectory(
            "a restore into \(path) was interrupted, and the store is missing; run `bghost restore`"
                + " again, with --replace, or, to begin with nothing, remove"
                + " \(path)/\(Self.unfinishedRestoreName)"
        )
    }

    private static func lock(
        _ directory: String,
        _ deadOwnerWait: Int64
    ) throws(HostError) -> Int32 {
        let path = directory + "/lock"
        do throws(LockFault) {
            return try LockFile.claim(path, deadOwnerWait: deadOwnerWait)
        } catch {
            throw switch error {
            case .held(let owner):
                .stateDirectoryTaken(
                    "\(owner.map { "another bghost (pid \($0))" } ?? "another process") uses"
                        + " \(directory); stop it or name another directory with --state-dir"
                )
            case .cannotLock(let code):
                .stateDirectory(
                    "cannot lock \(path): \(String(cString: strerror(code)));"
                        + " name another directory with --state-dir"
                )
            case .cannotWrite(let code):
                .stateDirectory(
                    "cannot write \(path): \(String(cString: strerror(code))); free some space or"
                        + " name another directory with --state-dir"
                )
            }
        }
    }
}
