// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// The worker's own file system: a small tmpfs into which only the granted paths are mounted.
struct PrivateFiles {
    /// Whether `/proc` shows only the processes of the worker's own user.
    private(set) var hidesProcesses = false
    /// Whether the plugin, under its own user, owns the paths that it may write.
    private(set) var mapsOwners = true
    /// Granted paths that do not exist.
    private(set) var absent: [String] = []

    /// Whether writable places may contain executable code.
    private var holdsCode = false

    /// A file tree to mount.
    private struct Tree {
        let fd: Int32
        let path: String
        let isFolder: Bool
    }

    private static let root = "/tmp"

    /// Builds the file system and makes it the root.
    ///
    /// The process must already have its own mount namespace.
    ///
    /// - Parameters:
    ///   - owners: a namespace in which the plugin's user owns root's files, or -1.
    ///   - bytes: the size limit of the tmpfs.
    ///   - holdsCode: whether files that the process wrote may be executed or mapped as code.
    /// - Returns: `nil`, or what went wrong; then the process still has its previous view.
    mutating func enter(
        _ grants: [SandboxProfile.Grant],
        owners: Int32,
        bytes: UInt64,
        holdsCode: Bool
    ) -> String? {
        self.holdsCode = holdsCode
        let isolated = bgs_mounts_private()
        guard isolated == 0 else { return "making mounts private: \(reasonText(isolated))" }
        // Open all trees before the first is mounted, so that no path is resolved through a new
        // mount.
        var trees = copies(of: grants, owners)
        if !mapsOwners {
            // Otherwise some files would belong to the plugin's user and some to another one.
            for tree in trees { close(tree.fd) }
            trees = copies(of: grants, -1)
        }
        defer { for tree in trees { close(tree.fd) } }
        // Create the parent folders passable, for the user that the worker becomes.
        let mask = umask(0)
        defer { umask(mask) }
        let memory = bgs_mount_memory(Self.root, bytes, holdsCode ? 1 : 0)
        guard memory == 0 else { return "mounting a tmpfs: \(reasonText(memory))" }
        if let fault = fill(trees) {
            // Remaining mounts are in this worker's own namespace and end with it.
            _ = bgs_unmount(Self.root)
            return fault
        }
        // As above: what stays mounted ends with this worker.
        let entered = bgs_enter_root(Self.root)
        guard entered == 0 else {
            // Remaining mounts end with this worker.
            _ = bgs_unmount(Self.root)
            return "changing the root: \(reasonText(entered))"
        }
        return nil
    }

    private mutating func copies(of grants: [SandboxProfile.Grant], _ owners: Int32) -> [Tree] {
        absent = []
        return grants.compactMap { copy($0, owners) }
    }

    private mutating func copy(_ grant: SandboxProfile.Grant, _ owners: Int32) -> Tree? {
        var status = stat()
        guard stat(grant.path, &status) == 0 else {
            if grant.access.contains(.named) { absent.append(grant.path) }
            return nil
        }
        let fd = bgs_tree_copy(grant.path)
        guard fd >= 0 else {
            if grant.access.contains(.named) { absent.append(grant.path) }
            return nil
        }
        var attributes = UInt64(BGS_TREE_NO_SETUID)
        if !grant.path.hasPrefix("/dev/") { attributes |= UInt64(BGS_TREE_NO_DEVICES) }
        if !grant.access.contains(.write) { attributes |= UInt64(BGS_TREE_READ_ONLY) }
        if !holdsCode, grant.access.contains(.write), !grant.access.contains(.execute) {
            attributes |= UInt64(BGS_TREE_NO_CODE)
        }
        if grant.access.contains(.noCode) { attributes |= UInt64(BGS_TREE_NO_CODE) }
        guard bgs_tree_restrict(fd, attributes) == 0 else {
            close(fd)
            absent.append(grant.path)
            return nil
        }
        if owners >= 0, grant.access.contains(.owned) {
            let isMapped = bgs_tree_map_owners(fd, owners) == 0
            if !isMapped, grant.access.contains(.write) { mapsOwners = false }
        }
        return Tree(
            fd: fd,
            path: grant.path,
            isFolder: status.st_mode & S_IFMT == S_IFDIR
        )
    }

    private mutating func fill(_ trees: [Tree]) -> String? {
        var folders: [String] = []
        for tree in trees {
            let target = Self.root + tree.path
            Self.makePlace(target, isFolder: tree.isFolder, &folders)
            let result = bgs_tree_attach(tree.fd, target)
            guard result == 0 else { return "mounting \(tree.path): \(reasonText(result))" }
        }
        mkdir(Self.root + "/tmp", 0o755)
        chmod(Self.root + "/tmp", 0o1777)
        mkdir(Self.root + "/proc", 0o555)
        hidesProcesses = bgs_mount_processes(Self.root + "/proc") == 0
        if !hidesProcesses {
            // Only the owner of the pid namespace may mount a `/proc` that hides processes.
            let processes = bgs_tree_copy("/proc")
            guard processes >= 0 else { return "copying /proc: \(reasonText(processes))" }
            defer { close(processes) }
            let result = bgs_tree_attach(processes, Self.root + "/proc")
            guard result == 0 else { return "mounting /proc: \(reasonText(result))" }
        }
        return nil
    }

    /// Creates the mount point of a tree; inside another tree it exists already.
    ///
    /// - Parameter made: the parent folders that were created so far.
    private static func makePlace(_ path: String, isFolder: Bool, _ made: inout [String]) {
        var parents = root
        for part in path.dropFirst(root.count).split(separator: "/").dropLast() {
            parents += "/" + part
            guard !made.contains(parents) else { continue }
            mkdir(parents, 0o755)
            made.append(parents)
        }
        if isFolder {
            mkdir(path, 0o755)
        } else {
            let fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if fd >= 0 { close(fd) }
        }
    }
}
