// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A folder of the cgroup v2 hierarchy in which the daemon may make groups, one for each worker, so
/// that all that a worker started can be killed at once, whatever it did to leave its process group.
package struct ControlGroup: Sendable {
    /// The daemon's own folder for its workers.
    package let path: String

    /// Looks for a place to make groups in and makes the daemon's folder there; `nil` where the
    /// system has no cgroup v2 or lets this user make no group.
    package init?(name: String) {
        guard let mount = Self.mountPoint(),
            let groups = readFile("/proc/self/cgroup", bytesMax: 64 << 10)
        else { return nil }
        let relative = String(decoding: groups, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("0::") }.map { $0.dropFirst(3) }
        guard let relative else { return nil }
        let own = mount + (relative == "/" ? "" : relative)
        Self.removeAbandoned(in: own)
        let path = own + "/" + name
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { return nil }
        self.path = path
    }

    /// Ends and removes the groups of daemons that were killed: their names end in a process id that
    /// nobody has.
    private static func removeAbandoned(in folder: String) {
        for name in entries(of: folder) where name.hasPrefix("bghost-") {
            guard let pid = Int32(name.dropFirst(7)), pid > 0, kill(pid, 0) != 0, errno == ESRCH
            else { continue }
            let group = "\(folder)/\(name)"
            writeFile(group + "/cgroup.kill", "1")
            for worker in entries(of: group) where worker.hasPrefix("w") {
                rmdir("\(group)/\(worker)")
            }
            rmdir(group)
        }
    }

    private static func entries(of folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
            )
        }
        return names
    }

    private static func mountPoint() -> String? {
        guard let mounts = readFile("/proc/self/mounts", bytesMax: 256 << 10) else { return nil }
        for line in String(decoding: mounts, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count > 2, fields[2] == "cgroup2" { return String(fields[1]) }
        }
        return nil
    }

    /// Makes a group and moves a process into it.
    ///
    /// The process must not have children yet.
    ///
    /// - Returns: the group's path, or `nil` if that did not work.
    package func adopt(pid: Int32) -> String? {
        let group = "\(path)/w\(pid)"
        guard mkdir(group, 0o700) == 0 || errno == EEXIST else { return nil }
        guard writeFile(group + "/cgroup.procs", String(pid)) else {
            rmdir(group)
            return nil
        }
        return group
    }

    /// Removes a worker's group.
    ///
    /// It fails as long as a process is in it.
    package static func remove(_ group: String) -> Bool {
        rmdir(group) == 0 || errno == ENOENT
    }

    /// Removes a worker's group once what was killed in it is gone.
    ///
    /// The kernel tears processes down after SIGKILL in its own time, so this looks again for up to
    /// a second. For the spawner's thread.
    package static func removeWhenEmpty(_ group: String) {
        for _ in 0..<200 {
            if remove(group) { return }
            writeFile(group + "/cgroup.kill", "1")
            usleep(5000)
        }
    }

    /// Removes the daemon's folder, which must be empty by then.
    package func remove() {
        rmdir(path)
    }
}
