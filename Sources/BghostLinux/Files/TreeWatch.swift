// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reports which files below a folder were written, replaced, removed or created.
///
/// Not thread-safe: one thread uses it, and that thread may wait for a disk.
package final class TreeWatch {
    /// A descriptor that is readable once something has changed.
    package let descriptor: Int32
    private let isWatched: (_ name: String, _ isFolder: Bool) -> Bool
    private let seesAll: Bool
    private let followsLinks: Bool
    /// The paths of the watched folders below the root, each with a slash at its end, "" for the root.
    private var folders: [Int32: String] = [:]
    private let root: String
    /// Whether there were more folders than are watched, or some could not be.
    package private(set) var isIncomplete = false

    /// Whether the root itself was removed, so that nothing is watched any more.
    package var isGone: Bool { !folders.values.contains("") }

    /// The most folders that are watched; a user has a few thousand watches at the least.
    package static let foldersMax = 1024
    private static let depthMax = 32

    private static let events = UInt32(
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR
    )

    /// Watches a folder and all folders in it.
    ///
    /// - Parameters:
    ///   - root: the path of the folder.
    ///   - seesAll: whether a file also counts that was created and not written yet, as a link never is, and one
    ///     whose permissions have changed.
    ///   - followsLinks: whether to look into the folders that symbolic links in it lead to; another link or folder in
    ///     such a place is not noticed.
    ///   - isWatched: whether a file counts, or a folder is looked into, by its name.
    /// - Throws: `SystemError` if the folder cannot be watched.
    package init(
        _ root: String,
        seesAll: Bool = false,
        followsLinks: Bool = false,
        isWatched: @escaping (_ name: String, _ isFolder: Bool) -> Bool
    ) throws(SystemError) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError("watch files", code: errno) }
        self.descriptor = descriptor
        self.root = root
        self.isWatched = isWatched
        self.seesAll = seesAll
        self.followsLinks = followsLinks
        // Links on the way to the folder are its user's own.
        let watch = inotify_add_watch(
            descriptor,
            root,
            Self.events | (seesAll ? UInt32(IN_ATTRIB) : 0)
        )
        guard watch >= 0 else { throw SystemError("watch", root, code: errno) }
        folders[watch] = ""
        addFolders(below: "")
    }

    deinit { close(descriptor) }

    /// The paths below the root that have changed since the last call, each once, in their order; at most 64.
    ///
    /// If the kernel dropped events, the root itself, "", has changed. Never waits for a change.
    package func changes() -> [String] {
        var found: [String] = []
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { buffer in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                take(
                    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]),
                    &found
                )
            }
        }
        return found
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ found: inout [String]) {
        func add(_ path: String) {
            if found.count < 64, !found.contains(path) { found.append(path) }
        }
        for event in InotifyEvents(bytes) {
            if event.has(IN_Q_OVERFLOW) {
                add("")
            } else if event.has(IN_IGNORED) {
                folders[event.watch] = nil
            } else if let folder = folders[event.watch], !event.name.isEmpty {
                let isFolder = event.has(IN_ISDIR)
                guard isWatched(event.name, isFolder) else { continue }
                let path = folder + event.name
                // A file that was only created is empty, and the end of its first write comes.
                if isFolder || seesAll || !event.has(IN_CREATE) { add(path) }
                if isFolder, event.has(IN_CREATE | IN_MOVED_TO) { watch(path + "/") }
            }
        }
    }

    /// Watches a folder, whose path ends with a slash.
    private func watch(_ folder: String) {
        let depth = folder.utf8.count { $0 == UInt8(ascii: "/") }
        guard folders.count < Self.foldersMax, depth <= Self.depthMax else {
            isIncomplete = true
            return
        }
        let events =
            Self.events | (seesAll ? UInt32(IN_ATTRIB) : 0)
            | (followsLinks ? 0 : UInt32(IN_DONT_FOLLOW))
        let watch = inotify_add_watch(descriptor, root + "/" + folder, events)
        // A folder that is gone again, or a link, is none of the tree.
        guard watch >= 0 else {
            if errno == ENOSPC { isIncomplete = true }
            return
        }
        // Links may lead to a folder that is watched already, and back to one above.
        guard !followsLinks || folders[watch] == nil else { return }
        folders[watch] = folder
        addFolders(below: folder)
    }

    private func addFolders(below folder: String) {
        guard let stream = opendir(root + "/" + folder) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            // Other file systems than the common ones leave the type out; then the watch tells.
            let type = Int(entry.pointee.d_type)
            guard type == DT_DIR || type == DT_UNKNOWN || followsLinks && type == DT_LNK else {
                continue
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name != ".", name != "..", isWatched(name, true) else { continue }
            watch(folder + name + "/")
        }
    }
}
