// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A folder of the cgroup v2 hierarchy in which the daemon may make groups, one for each worker, so
/// that all that a worker started can be killed at once, whatever it did to leave its process group.
package struct ControlGroup: Sendable {
    /// The daemon's own folder for its workers.
    package let path: String
    /// What the kernel holds workers to, by the names of its controllers: `cpu`, `memory`,
    /// `pids`.
    package let controllers: Set<String>

    /// What a worker's group is held to, as far as there are controllers for it.
    package struct Limits: Equatable, Sendable {
        /// All memory that is charged to it, bytes.
        package var memoryBytes: UInt64?
        /// Threads of all its processes.
        package var threads: Int?
        /// Its processor time, in hundredths of one processor's.
        ///
        /// Unlike the others it is held by nobody else, so a process without it is none of a group.
        package var cpuPercent: Int?

        package init(memoryBytes: UInt64? = nil, threads: Int? = nil, cpuPercent: Int? = nil) {
            self.memoryBytes = memoryBytes
            self.threads = threads
            self.cpuPercent = cpuPercent
        }
    }

    /// Looks for a place to make groups in and makes the daemon's folder there; `nil` where the
    /// system has no cgroup v2 or lets this user make no group.
    ///
    /// Where the daemon's group is its own, as that of a unit with `Delegate=yes`, the daemon moves
    /// into a group below, and the kernel holds the workers beside it to their limits.
    package init?(name: String) {
        guard let own = Self.ownFolder() else { return nil }
        self.init(in: own, name: name, process: getpid(), controllers: ["cpu", "memory", "pids"])
    }

    /// - Parameters:
    ///   - own: the group of the process.
    ///   - process: who makes groups.
    ///   - wanted: the controllers that are to hold them.
    package init?(in own: String, name: String, process: Int32, controllers wanted: Set<String>) {
        Self.removeAbandoned(in: own)
        let path = own + "/" + name
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { return nil }
        self.path = path
        controllers = Self.delegate(wanted, from: own, to: path, process)
    }

    /// What the kernel could hold workers to here, if the process had its group for itself: the
    /// controllers of that group, and the group; `nil` without cgroup v2.
    package static func look() -> (controllers: Set<String>, group: String)? {
        ownFolder().map { (words("\($0)/cgroup.controllers"), $0) }
    }

    /// Has the groups below a folder be held by controllers, and moves the process out of the way.
    ///
    /// - Returns: those that hold them.
    private static func delegate(
        _ wanted: Set<String>,
        from own: String,
        to path: String,
        _ process: Int32
    ) -> Set<String> {
        let wanted = wanted.intersection(words("\(own)/cgroup.controllers"))
        guard !wanted.isEmpty else { return [] }
        if !words("\(own)/cgroup.subtree_control").isSuperset(of: wanted) {
            // The kernel has either processes in a group or limits below it, save for the root of
            // all, which alone has no type. A group with others in it is not ours to part.
            if access("\(own)/cgroup.type", F_OK) == 0 {
                let home = "\(path)/\(home)"
                guard words("\(own)/cgroup.procs") == [String(process)],
                    mkdir(home, 0o700) == 0 || errno == EEXIST,
                    writeFile("\(home)/cgroup.procs", String(process))
                else { return [] }
            }
            enable(wanted, in: own)
        }
        enable(wanted, in: path)
        return wanted.intersection(words("\(path)/cgroup.subtree_control"))
    }

    /// The group that the daemon itself moves into.
    private static let home = "daemon"

    private static func enable(_ controllers: Set<String>, in group: String) {
        // Each on its own, as one that cannot be handed on keeps the others written with it back.
        for name in controllers { writeFile("\(group)/cgroup.subtree_control", "+\(name)") }
    }

    private static func words(_ path: String) -> Set<String> {
        guard let bytes = readFile(path, bytesMax: 64 << 10) else { return [] }
        return Set(
            String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }.map(
                String.init
            )
        )
    }

    /// Ends and removes the groups of daemons that were killed: their names end in a process id that
    /// nobody has.
    private static func removeAbandoned(in folder: String) {
        for name in entries(of: folder) where name.hasPrefix("bghost-") {
            guard let pid = Int32(name.dropFirst(7)), pid > 0, kill(pid, 0) != 0, errno == ESRCH
            else { continue }
            let group = "\(folder)/\(name)"
            writeFile(group + "/cgroup.kill", "1")
            for worker in entries(of: group) where worker.hasPrefix("w") || worker == home {
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

    /// The folder of this process's group.
    private static func ownFolder() -> String? {
        guard let mount = mountPoint(),
            let groups = readFile("/proc/self/cgroup", bytesMax: 64 << 10)
        else { return nil }
        let relative = String(decoding: groups, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("0::") }.map { $0.dropFirst(3) }
        return relative.map { mount + ($0 == "/" ? "" : $0) }
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
    package func adopt(pid: Int32, limits: Limits = Limits()) -> String? {
        let group = "\(path)/w\(pid)"
        guard mkdir(group, 0o700) == 0 || errno == EEXIST else { return nil }
        if let bytes = limits.memoryBytes, controllers.contains("memory") {
            writeFile("\(group)/memory.max", String(bytes))
            // What is not counted as memory any more is not gone.
            writeFile("\(group)/memory.swap.max", "0")
            writeFile("\(group)/memory.oom.group", "1")
        }
        if let threads = limits.threads, controllers.contains("pids") {
            writeFile("\(group)/pids.max", String(threads))
        }
        guard limits.cpuPercent.map({ limitProcessors(of: group, to: $0) }) ?? true,
            writeFile(group + "/cgroup.procs", String(pid))
        else {
            rmdir(group)
            return nil
        }
        return group
    }

    /// In periods of 100 ms, which are the kernel's own: a worker that has used up its part of one waits
    /// for the next.
    private func limitProcessors(of group: String, to percent: Int) -> Bool {
        controllers.contains("cpu") && writeFile("\(group)/cpu.max", "\(percent * 1000) 100000")
    }

    /// Whether the kernel has killed a process of a worker's group because the group had no memory
    /// left.
    package static func ranOutOfMemory(_ group: String) -> Bool {
        guard let events = readFile("\(group)/memory.events", bytesMax: 4096) else { return false }
        return String(decoding: events, as: UTF8.self).split(separator: "\n").contains {
            $0.hasPrefix("oom_kill ") && $0 != "oom_kill 0"
        }
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
