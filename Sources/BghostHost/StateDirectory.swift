// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc

/// The daemon's folder: its lock and a data directory for each plugin.
extension Host {
    func openStateDirectory() throws(HostError) {
        let path = configuration.stateDirectory
        try makeDirectory(path, privately: true)
        try makeDirectory(path + "/data", privately: true)
        try lock(path + "/lock")
    }

    /// The data directory of a plugin, made if it is not there.
    func dataDirectory(of plugin: PluginSlot) throws(HostError) -> String {
        let path = "\(configuration.stateDirectory)/data/\(plugin.name)"
        try makeDirectory(path, privately: true)
        return path
    }

    private func makeDirectory(_ path: String, privately: Bool) throws(HostError) {
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
    private func lock(_ path: String) throws(HostError) {
        let fd = LockFile.open(path)
        guard fd >= 0 else {
            if fd == -EAGAIN || fd == -EACCES, let owner = readFile(path, bytesMax: 32),
                !owner.isEmpty
            {
                throw .stateDirectoryTaken(
                    "another bghost (pid \(String(decoding: owner, as: UTF8.self))) uses"
                        + " \(configuration.stateDirectory); stop it or name another directory with"
                        + " --state-dir"
                )
            }
            throw .stateDirectory(
                "cannot lock \(path): \(String(cString: strerror(0 - fd)));"
                    + " name another directory with --state-dir"
            )
        }
        lockFile = fd
        var pid = String(getpid())
        let isWritten = pid.withUTF8 {
            ftruncate(fd, 0) == 0 && pwrite(fd, $0.baseAddress, $0.count, 0) == $0.count
        }
        guard isWritten else {
            let reason = String(cString: strerror(errno))
            close(fd)
            lockFile = -1
            throw .stateDirectory(
                "cannot write \(path): \(reason); free some space or name another directory with"
                    + " --state-dir"
            )
        }
    }
}
