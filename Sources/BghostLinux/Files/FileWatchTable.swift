// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The owners of the watched files, by folder and name.
struct FileWatchTable {
    private static let placesMax = 1024

    /// A name in a watched folder; "" is the folder itself.
    struct Place: Hashable {
        var folder: Int32
        var name: String
    }

    private let foldersMax: Int
    private var owners: [Int32: [String: Set<String>]] = [:]
    private var places: [String: Set<Place>] = [:]

    /// What ``replace(_:_:)`` has done.
    struct Replacement {
        /// Whether the owner watched the same places before.
        var isSame: Bool
        /// Whether all its places are watched.
        var isWhole: Bool
        /// The folders that no owner watches any longer.
        var unwanted: Set<Int32>
    }

    var folderCount: Int { owners.count }

    init(foldersMax: Int) { self.foldersMax = foldersMax }

    /// Replaces the places that an owner watches.
    mutating func replace(_ owner: String, _ wanted: Set<Place>) -> Replacement {
        let before = places[owner] ?? []
        var kept: Set<Place> = []
        var refused: Set<Int32> = []
        for place in wanted {
            guard kept.count < Self.placesMax,
                owners[place.folder] != nil || owners.count < foldersMax
            else {
                refused.insert(place.folder)
                continue
            }
            kept.insert(place)
            owners[place.folder, default: [:]][place.name, default: []].insert(owner)
        }
        var unwanted = refused.filter { owners[$0] == nil }
        for place in before.subtracting(kept) where remove(owner, place) {
            unwanted.insert(place.folder)
        }
        places[owner] = kept.isEmpty ? nil : kept
        return Replacement(
            isSame: kept == before,
            isWhole: kept.count == wanted.count,
            unwanted: unwanted
        )
    }

    /// Returns whether no owner watches the folder any longer.
    private mutating func remove(_ owner: String, _ place: Place) -> Bool {
        owners[place.folder]?[place.name]?.remove(owner)
        if owners[place.folder]?[place.name]?.isEmpty == true {
            owners[place.folder]?[place.name] = nil
        }
        guard owners[place.folder]?.isEmpty == true else { return false }
        owners[place.folder] = nil
        return true
    }

    /// Adds the owners that events concern.
    ///
    /// - Returns: whether the kernel has dropped events.
    mutating func note(_ events: InotifyEvents, _ found: inout Set<String>) -> Bool {
        var hasLost = false
        for event in events {
            if event.has(IN_Q_OVERFLOW) { hasLost = true }
            guard !event.name.isEmpty else {
                noteFolder(event, &found)
                continue
            }
            if let concerned = owners[event.watch]?[event.name] { found.formUnion(concerned) }
        }
        return hasLost
    }

    /// An event without a name concerns the folder itself, and so all files in it.
    private mutating func noteFolder(_ event: InotifyEvents.Event, _ found: inout Set<String>) {
        guard let names = owners[event.watch] else { return }
        let isOver = event.has(IN_IGNORED)
        for (name, concerned) in names {
            found.formUnion(concerned)
            guard isOver else { continue }
            let place = Place(folder: event.watch, name: name)
            for owner in concerned { places[owner]?.remove(place) }
        }
        if isOver { owners[event.watch] = nil }
    }
}

/// Follows paths to their files, and watches what may lead them elsewhere.
struct PathWalk {
    /// Where to watch; `nil` to watch nothing.
    let inotify: Int32?
    /// What is watched.
    private(set) var places: Set<FileWatchTable.Place> = []
    private var hasher = Hasher()

    /// A number of the folders and links on the way and of the files at the end, with their sizes, times,
    /// owners and permissions.
    var fingerprint: Int { hasher.finalize() }

    private static let common = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW)
    /// The events of names that appear and disappear.
    private static let entries =
        common | UInt32(IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE)
    private static let contents = entries | UInt32(IN_CLOSE_WRITE | IN_ATTRIB)
    private static let linksMax = 40

    init(inotify: Int32?) { self.inotify = inotify }

    /// Follows an absolute path.
    ///
    /// - Returns: whether all that could be watched is. A folder on the way that this process may enter and not
    ///   read cannot be: a sweep finds its move.
    mutating func follow(_ path: String) -> Bool {
        var rest = ArraySlice(path.split(separator: "/").map(String.init))
        var folder = ""
        var links = 0
        var isComplete = true
        while let name = rest.popFirst() {
            if name == "." { continue }
            if name == ".." {
                folder = folder.split(separator: "/").dropLast().map { "/" + $0 }.joined()
                continue
            }
            let here = folder + "/" + name
            var status = stat()
            let kind = lstat(here, &status) == 0 ? status.st_mode & S_IFMT : 0
            hasher.combine(kind)
            hasher.combine(status.st_dev)
            hasher.combine(status.st_ino)
            if kind == S_IFDIR, !rest.isEmpty {
                let failure = watch(here, "", Self.common)
                if failure != 0, failure != EACCES { isComplete = false }
                folder = here
                continue
            }
            let isFile = rest.isEmpty && kind != S_IFLNK
            let place = folder.isEmpty ? "/" : folder
            if watch(place, name, isFile ? Self.contents : Self.entries) != 0 { isComplete = false }
            guard kind == S_IFLNK else {
                hasher.combine(rest.count)
                combine(status)
                return isComplete
            }
            links += 1
            guard links <= Self.linksMax, let target = Self.readLink(here) else {
                return isComplete
            }
            hasher.combine(target)
            if target.hasPrefix("/") { folder = "" }
            rest = ArraySlice(target.split(separator: "/").map(String.init)) + rest
        }
        return isComplete
    }

    private mutating func combine(_ status: stat) {
        hasher.combine(status.st_mode)
        hasher.combine(status.st_uid)
        hasher.combine(status.st_gid)
        // Those of a folder change with each file in it.
        guard status.st_mode & S_IFMT != S_IFDIR else { return }
        hasher.combine(status.st_size)
        withUnsafeBytes(of: status.st_mtim) { hasher.combine(bytes: $0) }
        withUnsafeBytes(of: status.st_ctim) { hasher.combine(bytes: $0) }
    }

    /// - Returns: 0, or the number of the error.
    private mutating func watch(_ folder: String, _ name: String, _ events: UInt32) -> Int32 {
        guard let inotify else { return 0 }
        // A folder has one watch, which may be of more than one file.
        let watch = inotify_add_watch(inotify, folder, events | UInt32(IN_MASK_ADD))
        guard watch >= 0 else { return errno }
        places.insert(FileWatchTable.Place(folder: watch, name: name))
        return 0
    }

    private static func readLink(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
