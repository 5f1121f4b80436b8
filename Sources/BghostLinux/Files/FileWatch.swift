// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// Reports when the files at some paths may have changed: written, replaced, removed or created.
///
/// It watches the folders of the paths, the folders of symbolic links on the way, and for a missing
/// path the nearest existing folder. Each path belongs to one or more owners, which are identified
/// by name.
package final class FileWatch: Sendable {
    /// A descriptor that is readable once a file has changed.
    package let descriptor: Int32
    private let table = Mutex(Table())

    private struct Table {
        /// For each watched folder: the owners, by the file names that they watch in it.
        var owners: [Int32: [String: Set<String>]] = [:]

        /// Replaces the names that an owner watches.
        ///
        /// - Returns: the folders that no owner watches any longer.
        mutating func replace(_ owner: String, _ wanted: [Int32: Set<String>]) -> [Int32] {
            for (folder, names) in owners {
                for name in names.keys where wanted[folder]?.contains(name) != true {
                    owners[folder]?[name]?.remove(owner)
                    if owners[folder]?[name]?.isEmpty == true { owners[folder]?[name] = nil }
                }
            }
            for (folder, names) in wanted {
                for name in names { owners[folder, default: [:]][name, default: []].insert(owner) }
            }
            let unwanted = owners.filter(\.value.isEmpty).map(\.key)
            for folder in unwanted { owners[folder] = nil }
            return unwanted
        }
    }

    /// A file name in a folder.
    private struct Place: Hashable {
        var folder: String
        var name: String
    }

    private static let events = UInt32(
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB
            | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
    )
    private static let linksMax = 40
    private static let placesMax = 1024

    package init() throws(SystemError) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError("watch files", code: errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Replaces the paths that an owner watches.
    ///
    /// It resolves the paths, so it may wait for a disk. All calls must come from one thread.
    ///
    /// - Returns: whether all paths are watched.
    @discardableResult
    package func watch(_ paths: [String], for owner: String) -> Bool {
        let places = Set(paths.flatMap(Self.places))
        var wanted: [Int32: Set<String>] = [:]
        for place in places.prefix(Self.placesMax) {
            let folder = inotify_add_watch(descriptor, place.folder, Self.events)
            if folder >= 0 { wanted[folder, default: []].insert(place.name) }
        }
        let unwanted = table.withLock { $0.replace(owner, wanted) }
        for folder in unwanted { inotify_rm_watch(descriptor, folder) }
        return places.count <= Self.placesMax
            && wanted.values.reduce(0) { $0 + $1.count } == places.count
    }

    /// The owners whose files may have changed since the last call; `nil` if the kernel dropped
    /// events, so that any file may have changed.
    ///
    /// Never waits.
    package func changes() -> Set<String>? {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return [] }
            let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
            return table.withLock { Self.owners(of: bytes, &$0) }
        }
    }

    private static func owners(of bytes: UnsafeRawBufferPointer, _ table: inout Table) -> Set<
        String
    >? {
        var found: Set<String> = []
        for event in InotifyEvents(bytes) {
            guard !event.has(IN_Q_OVERFLOW) else { return nil }
            guard let names = table.owners[event.watch] else { continue }
            // An event without a name concerns the folder itself.
            for (own, owners) in names where event.name.isEmpty || own == event.name {
                found.formUnion(owners)
            }
            if event.has(IN_IGNORED) { table.owners[event.watch] = nil }
        }
        return found
    }

    /// The folders and names where a change may lead a path to another file.
    private static func places(of path: String) -> [Place] {
        var found: [Place] = []
        var rest = ArraySlice(path.split(separator: "/").map(String.init))
        var folder = ""
        var links = 0
        while let name = rest.popFirst() {
            if name == "." { continue }
            if name == ".." {
                folder = folder.split(separator: "/").dropLast().map { "/" + $0 }.joined()
                continue
            }
            let here = folder + "/" + name
            let place = Place(folder: folder.isEmpty ? "/" : folder, name: name)
            var status = stat()
            guard lstat(here, &status) == 0 else { return found + [place] }
            switch status.st_mode & S_IFMT {
            case S_IFLNK:
                found.append(place)
                links += 1
                guard links <= linksMax, let target = readLink(here) else { return found }
                if target.hasPrefix("/") { folder = "" }
                rest = ArraySlice(target.split(separator: "/").map(String.init)) + rest
            case S_IFDIR where !rest.isEmpty: folder = here
            default: return found + [place]
            }
        }
        return found
    }

    private static func readLink(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
