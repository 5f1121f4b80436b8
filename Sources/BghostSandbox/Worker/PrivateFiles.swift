// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import CBghostSystem
internal import Glibc

/// The worker's own file system: a small tmpfs into which only the granted paths are mounted.
///
/// A grant that cannot be mounted is left out; the others hold.
struct PrivateFiles {
    /// Whether `/proc` shows only the processes of the worker's own user.
    private(set) var hidesProcesses = false
    /// Whether the plugin, under its own user, owns the paths that it may write.
    private(set) var mapsOwners = true
    /// Granted paths that do not exist, or cannot be mounted.
    private(set) var absent: [String] = []
    /// What is mounted, until it is closed.
    private(set) var trees: [Tree] = []

    /// Whether writable places may contain executable code.
    private var holdsCode = false

    /// A file tree to mount.
    struct Tree {
        let fd: Int32
        let grant: SandboxProfile.Grant
        let isFolder: Bool
        /// Where it is mounted.
        let place: String
        /// Its path without links, if it is inside another tree or has one inside.
        var path: String?
    }

    private static let root = "/tmp"

    /// Builds the file system and makes it the root.
    ///
    /// The process must already have its own mount namespace.
    ///
    /// - Parameters:
    ///   - writable: the folders that plugins may write.
    ///   - owners: a namespace in which the plugin's user owns root's files, or -1.
    ///   - bytes: the size limit of the tmpfs.
    ///   - holdsCode: whether files that the process wrote may be executed or mapped as code.
    /// - Returns: `nil`, or what went wrong; then the process still has its previous view.
    mutating func enter(
        _ grants: [SandboxProfile.Grant],
        among writable: WritableTrees,
        owners: Int32,
        bytes: UInt64,
        holdsCode: Bool
    ) -> String? {
        self.holdsCode = holdsCode
        let isolated = bgs_mounts_private()
        guard isolated == 0 else { return "making mounts private: \(reasonText(isolated))" }
        // Open all trees before the first is mounted, so that no path is resolved through a new
        // mount.
        copy(grants, writable, owners)
        if !mapsOwners {
            // Otherwise some files would belong to the plugin's user and some to another one.
            copy(grants, writable, -1)
        }
        let fault = enter(bytes)
        if fault != nil { closeTrees() }
        return fault
    }

    /// Closes what is mounted, which stays mounted.
    mutating func closeTrees() {
        for tree in trees { close(tree.fd) }
        trees = []
    }

    private mutating func enter(_ bytes: UInt64) -> String? {
        // Create the parent folders passable, for the user that the worker becomes.
        let mask = umask(0)
        defer { umask(mask) }
        let memory = bgs_mount_memory(Self.root, bytes, holdsCode ? 1 : 0)
        guard memory == 0 else { return "mounting a tmpfs: \(reasonText(memory))" }
        if let fault = fill() {
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

    // MARK: Copies

    private mutating func copy(
        _ grants: [SandboxProfile.Grant],
        _ writable: WritableTrees,
        _ owners: Int32
    ) {
        closeTrees()
        absent = []
        for grant in grants {
            guard let tree = copy(grant, writable, owners) else { continue }
            trees.append(tree)
        }
    }

    private mutating func copy(
        _ grant: SandboxProfile.Grant,
        _ writable: WritableTrees,
        _ owners: Int32
    ) -> Tree? {
        guard let found = GrantedPath(grant, among: writable) else {
            if grant.access.contains(.named) { absent.append(grant.path) }
            return nil
        }
        defer { close(found.fd) }
        let fd = bgs_tree_copy_of(found.fd)
        guard fd >= 0 else {
            if grant.access.contains(.named) { absent.append(grant.path) }
            return nil
        }
        guard bgs_tree_restrict(fd, attributes(of: grant)) == 0 else {
            close(fd)
            absent.append(grant.path)
            return nil
        }
        if owners >= 0, grant.access.contains(.owned) {
            let isMapped = bgs_tree_map_owners(fd, owners) == 0
            if !isMapped, grant.access.contains(.write) { mapsOwners = false }
        }
        let place = PlainPath.of(grant.path)
        return Tree(
            fd: fd,
            grant: grant,
            isFolder: found.isFolder,
            place: place,
            path: resolveAround(place, writable)
                ? GrantedPath.resolved(grant, among: writable) : nil
        )
    }

    private func attributes(of grant: SandboxProfile.Grant) -> UInt64 {
        var attributes = UInt64(BGS_TREE_NO_SETUID)
        if !grant.path.hasPrefix("/dev/") { attributes |= UInt64(BGS_TREE_NO_DEVICES) }
        if !grant.access.contains(.write) { attributes |= UInt64(BGS_TREE_READ_ONLY) }
        if !holdsCode, grant.access.contains(.write), !grant.access.contains(.execute) {
            attributes |= UInt64(BGS_TREE_NO_CODE)
        }
        if grant.access.contains(.noCode) { attributes |= UInt64(BGS_TREE_NO_CODE) }
        return attributes
    }

    /// Finds the paths without links of the trees around a place, while they can be resolved.
    ///
    /// - Returns: whether there is such a tree.
    private mutating func resolveAround(_ place: String, _ writable: WritableTrees) -> Bool {
        var isInside = false
        for index in trees.indices where PlainPath.isInside(place, trees[index].place) {
            isInside = true
            guard trees[index].path == nil else { continue }
            trees[index].path = GrantedPath.resolved(trees[index].grant, among: writable)
        }
        return isInside
    }

    // MARK: Mounts

    private mutating func fill() -> String? {
        var mounted: [Tree] = []
        var made: Set<String> = []
        var fault: String?
        for tree in trees {
            let result = Self.attach(tree, among: mounted, &made)
            if result == 0 {
                mounted.append(tree)
            } else {
                close(tree.fd)
                absent.append(tree.grant.path)
                fault = fault ?? "mounting \(tree.grant.path): \(reasonText(result))"
            }
        }
        trees = mounted
        // Then it is no single grant, but the machine.
        if mounted.isEmpty, let fault { return fault }
        if !mounted.contains(where: { PlainPath.isInside("/tmp", $0.place) }) {
            mkdir(Self.root + "/tmp", 0o755)
            chmod(Self.root + "/tmp", 0o1777)
        }
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

    /// Mounts a tree; nothing inside another tree is created or followed for it.
    private static func attach(_ tree: Tree, among mounted: [Tree], _ made: inout Set<String>)
        -> Int32
    {
        let around = mounted.last { PlainPath.isInside(tree.place, $0.place) }
        guard let around else {
            makePlace(tree, among: mounted, &made)
            return bgs_tree_attach(tree.fd, root + tree.place)
        }
        guard let path = tree.path, let outer = around.path, PlainPath.isInside(path, outer) else {
            return -ELOOP
        }
        let rest = outer == "/" ? path[...] : path.dropFirst(outer.count)
        let place = openPlace((around.place + rest).split(separator: "/").joined(separator: "/"))
        guard place >= 0 else { return place }
        defer { close(place) }
        return bgs_tree_attach_at(tree.fd, place)
    }

    /// Opens a place in a tree that is mounted: a plugin that may write the tree changes it meanwhile.
    private static func openPlace(_ path: String) -> Int32 {
        let top = open(root, WritableTrees.pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard top >= 0 else { return -EBADF }
        defer { close(top) }
        return bgs_open_without_links(top, path.isEmpty ? "." : path, WritableTrees.pathOnly)
    }

    /// Creates the mount point of a tree that is in no other one.
    ///
    /// - Parameter made: the parent folders that were created so far.
    private static func makePlace(_ tree: Tree, among mounted: [Tree], _ made: inout Set<String>) {
        // A parent that only `..` leaves again is created too: the plugin uses the path as it is granted.
        var parts: [Substring] = []
        for part in tree.grant.path.split(separator: "/").dropLast() where part != "." {
            if part == ".." {
                // At the root it leads nowhere.
                _ = parts.popLast()
                continue
            }
            parts.append(part)
            let parent = "/" + parts.joined(separator: "/")
            guard made.insert(parent).inserted,
                !mounted.contains(where: { PlainPath.isInside(parent, $0.place) })
            else { continue }
            mkdir(root + parent, 0o755)
        }
        let path = root + tree.place
        if tree.isFolder {
            mkdir(path, 0o755)
        } else {
            let fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if fd >= 0 { close(fd) }
        }
    }
}
