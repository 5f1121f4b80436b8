// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc
internal import Synchronization

/// The daemon's folder, locked: its store and a data directory for each plugin.
final class StateDirectory: Sendable {
    let path: String
    /// Its descriptor, until it is let go of.
    private let lock: Mutex<Int32?>

    /// Makes the folder if it is not there, and takes it for this process.
    init(_ path: String) throws(HostError) {
        self.path = path
        try Self.makeDirectory(path)
        try Self.makeDirectory(path + "/data")
        lock = Mutex(try Self.lock(path))
    }

    deinit { unlock() }

    /// Lets another daemon have it.
    func unlock() {
        lock.withLock { lock in
            if let fd = lock { close(fd) }
            lock = nil
        }
    }

    /// The data directory of a plugin, made if it is not there.
    func dataDirectory(of plugin: String) throws(HostError) -> String {
        let path = "\(path)/data/\(plugin)"
        try Self.makeDirectory(path)
        return path
    }

    // MARK: Loading into this process

    /// Has it known, also after the death of this process, that a plugin is being loaded into it.
    func beginLoading(_ plugin: String) {
        let fd = open(mark(plugin), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if fd >= 0 { close(fd) }
    }

    func endLoading(_ plugin: String) { unlink(mark(plugin)) }

    /// Whether a process before this one ended while it loaded a plugin; asked once.
    func takeUnfinishedLoad(_ plugin: String) -> Bool { unlink(mark(plugin)) == 0 }

    private func mark(_ plugin: String) -> String { "\(path)/loading-\(plugin)" }

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

    /// The lock belongs to the open file, so that it ends with the daemon however that ends; a file
    /// left behind locks nobody out.
    private static func lock(_ directory: String) throws(HostError) -> Int32 {
        let path = directory + "/lock"
        let fd = LockFile.open(path)
        guard fd >= 0 else {
            if fd == -EAGAIN || fd == -EACCES, let owner = readFile(path, bytesMax: 32),
                !owner.isEmpty
            {
                throw .stateDirectoryTaken(
                    "another bghost (pid \(String(decoding: owner, as: UTF8.self))) uses"
                        + " \(directory); stop it or name another directory with"
                        + " --state-dir"
                )
            }
            throw .stateDirectory(
                "cannot lock \(path): \(String(cString: strerror(0 - fd)));"
                    + " name another directory with --state-dir"
            )
        }
        var pid = String(getpid())
        let isWritten = pid.withUTF8 {
            ftruncate(fd, 0) == 0 && pwrite(fd, $0.baseAddress, $0.count, 0) == $0.count
        }
        guard isWritten else {
            let reason = String(cString: strerror(errno))
            close(fd)
            throw .stateDirectory(
                "cannot write \(path): \(reason); free some space or name another directory with"
                    + " --state-dir"
            )
        }
        return fd
    }
}
