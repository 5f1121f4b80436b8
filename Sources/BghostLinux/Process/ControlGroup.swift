// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A folder of the cgroup v2 hierarchy in which the daemon creates one group per worker.
///
/// Killing a group ends every process that the worker started, including those that left its
/// process group.
package struct ControlGroup: Sendable {
    /// The daemon's folder for its workers' groups.
    let path: String
    /// The controllers that limit the workers' groups: `cpu`, `memory`, `pids`.
    package let controllers: Set<String>

    /// The limits of a worker's group; each applies only if its controller is available.
    package struct Limits: Equatable, Sendable {
        /// All memory charged to the group, bytes.
        var memoryBytes: UInt64?
        /// The threads of all processes in the group.
        var threads: Int?
        /// The processor time, in percent of one processor.
        ///
        /// Only the group enforces this limit, so without its group a worker must not start.
        var cpuPercent: Int?

        package init(memoryBytes: UInt64? = nil, threads: Int? = nil, cpuPercent: Int? = nil) {
            self.memoryBytes = memoryBytes
            self.threads = threads
            self.cpuPercent = cpuPercent
        }
    }

    /// Finds the daemon's own group and creates the folder for its workers there; `nil` where the
    /// system has no cgroup v2 or does not let this user create groups.
    ///
    /// If the daemon is alone in its group, as in a unit with `Delegate=yes`, it moves into a
    /// subgroup, and the kernel enforces the limits of the workers' groups beside it.
    package init?(name: String) {
        guard let own = Self.ownFolder() else { return nil }
        self.init(in: own, name: name, process: getpid(), controllers: ["cpu", "memory", "pids"])
    }

    /// - Parameters:
    ///   - own: the group of the process.
    ///   - process: the process that creates groups.
    ///   - wanted: the controllers that the groups should have.
    init?(in own: String, name: String, process: Int32, controllers wanted: Set<String>) {
        Self.removeAbandoned(in: own)
        let path = own + "/" + name
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { return nil }
        self.path = path
        controllers = Self.delegate(wanted, from: own, to: path, process)
    }

    /// The controllers of this process's group, which could limit workers if the process were alone
    /// in it, and the path of the group; `nil` without cgroup v2.
    package static func detect() -> (controllers: Set<String>, group: String)? {
        ownFolder().map { (words("\($0)/cgroup.controllers"), $0) }
    }

    /// Enables controllers for the groups below a folder, and if necessary moves the process out of
    /// it.
    ///
    /// - Returns: the controllers that are enabled.
    private static func delegate(
        _ wanted: Set<String>,
        from own: String,
        to path: String,
        _ process: Int32
    ) -> Set<String> {
        let wanted = wanted.intersection(words("\(own)/cgroup.controllers"))
        guard !wanted.isEmpty else { return [] }
        if !words("\(own)/cgroup.subtree_control").isSuperset(of: wanted) {
            // A group other than the root has either processes or controllers for subgroups; only
            // the root has no `cgroup.type`. If other processes are in the group, leave it
            // unchanged.
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

    /// The name of the daemon's own subgroup.
    private static let home = "daemon"

    private static func enable(_ controllers: Set<String>, in group: String) {
        // Write each separately: if the kernel refuses one, it refuses all in the same write.
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

    /// Kills and removes the groups of daemons that were killed.
    ///
    /// Their names end in a process id that no process has.
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

    /// The folder of this process's own group.
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

    /// Creates a group and moves a process into it.
    ///
    /// The process must not have children yet.
    ///
    /// - Returns: the group's path, or `nil` on failure.
    package func adopt(pid: Int32, limits: Limits = Limits()) -> String? {
        let group = "\(path)/w\(pid)"
        guard mkdir(group, 0o700) == 0 || errno == EEXIST else { return nil }
        if let bytes = limits.memoryBytes, controllers.contains("memory") {
            writeFile("\(group)/memory.max", String(bytes))
            // Swapped memory would no longer count against memory.max, so permit none.
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

    /// Limits processor time per period of 100 ms, the kernel's default: a worker that has used its
    /// share waits for the next period.
    private func limitProcessors(of group: String, to percent: Int) -> Bool {
        controllers.contains("cpu") && writeFile("\(group)/cpu.max", "\(percent * 1000) 100000")
    }

    /// Whether the kernel has killed a process of a worker's group because the group exceeded its
    /// memory limit.
    package static func hitMemoryLimit(_ group: String) -> Bool {
        guard let events = readFile("\(group)/memory.events", bytesMax: 4096) else { return false }
        return String(decoding: events, as: UTF8.self).split(separator: "\n").contains {
            $0.hasPrefix("oom_kill ") && $0 != "oom_kill 0"
        }
    }

    /// Removes a worker's group; fails as long as a process is in it.
    static func remove(_ group: String) -> Bool {
        rmdir(group) == 0 || errno == ENOENT
    }

    /// Removes a worker's group after its killed processes have ended.
    ///
    /// The kernel takes a while to tear processes down after SIGKILL, so this retries for up to a
    /// second. Call it on the spawner's thread.
    package static func removeWhenEmpty(_ group: String) {
        for _ in 0..<200 {
            if remove(group) { return }
            writeFile(group + "/cgroup.kill", "1")
            usleep(5000)
        }
    }

    /// Removes the daemon's folder, which must be empty.
    package func remove() {
        rmdir(path)
    }
}
