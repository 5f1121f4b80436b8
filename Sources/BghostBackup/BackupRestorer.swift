// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
package import BghostServices
internal import BghostStore
internal import Glibc

/// Puts a backup into a state directory that no daemon uses.
///
/// Everything is copied and checked before anything of the state directory changes. What was there is set
/// aside in a folder of the state directory, never removed. An interrupted restore leaves either the old
/// store, the new one, or none. In the last case the folder of the copy remains, and a daemon refuses to
/// start while it is there; the command can then be repeated.
///
/// The folder with what is set aside gets its name when it is complete. A repeated restore continues in the
/// folder that an interrupted one has begun: a database and its write-ahead log in two folders would look
/// like an older database.
package struct BackupRestorer: Sendable {
    /// What was restored.
    package struct Summary: Equatable, Sendable {
        /// The size of the restored files without holes, bytes.
        package var bytes: UInt64 = 0
        package var hasTransfers = false
        /// The plugins whose data directories were restored, sorted.
        package var plugins: [String] = []
        /// The folder with what was there before; `nil` if there was nothing.
        package var aside: String?
    }

    /// The store goes first and comes last: between that, no daemon starts.
    private static let databases = [StateDirectory.storeName, StateDirectory.transfersName]

    /// What SQLite adds to the name of a database for that of its write-ahead log.
    private static let log = "-wal"
    /// The same for the journal of a transaction that was interrupted before the database had a log.
    private static let journal = "-journal"

    /// The name of a folder with what was set aside begins with it.
    private static let asidePrefix = "replaced-"
    /// The name of a folder that is not complete ends with it, also that of a backup.
    private static let unfinished = ".unfinished"

    private let backup: String
    private let state: StateDirectory
    private let replaces: Bool
    private let staging: String
    private let aside: String

    /// - Parameters:
    ///   - backup: the folder that `BackupWriter` wrote.
    ///   - state: the directory to restore into, which this process has locked.
    ///   - replaces: whether what is there may be set aside; otherwise it is an error.
    ///   - stamp: a part of the name of the folder with the old state, such as the time.
    package init(_ backup: String, into state: StateDirectory, replaces: Bool, stamp: String) {
        self.backup = backup
        self.state = state
        self.replaces = replaces
        staging = state.path + "/" + StateDirectory.unfinishedRestoreName
        // Two restores may come within a second.
        var aside = state.path + "/" + Self.asidePrefix + stamp
        while ["", Self.unfinished].contains(where: { NewFolder.size(of: aside + $0) != nil }) {
            aside += "-2"
        }
        self.aside = aside
    }

    /// Restores the backup; blocks until it is on the disk.
    package func restore() throws(BackupError) -> Summary {
        try checkBackup()
        // Otherwise a daemon would begin with nothing where an earlier restore was interrupted.
        var keepsMark =
            NewFolder.size(of: staging) != nil
            && NewFolder.size(of: path(StateDirectory.storeName, in: state.path)) == nil
        defer { if keepsMark { FileTree.empty(staging) } else { FileTree.remove(staging) } }
        return try BackupError.rethrowing {
            try makeStaging()
            var summary = try copy()
            let old = try present(besides: summary.plugins)
            keepsMark = true
            summary.aside = try setAside(old)
            try moveIn(summary)
            keepsMark = false
            return summary
        }
    }

    private func checkBackup() throws(BackupError) {
        guard !backup.hasSuffix(Self.unfinished) else {
            throw BackupError(
                "\(backup) is not complete: the command that wrote it was interrupted",
                fix: "name a complete folder; a repeated restore completes what it sets aside"
            )
        }
        guard NewFolder.size(of: path(StateDirectory.storeName, in: backup)) != nil else {
            throw BackupError(
                "\(backup) is no backup: it has no \(StateDirectory.storeName)",
                fix: "name a folder that `bghost backup` wrote"
            )
        }
    }

    /// Makes the folder of the copy, or empties that of an interrupted restore, which stays as a mark.
    private func makeStaging() throws {
        FileTree.empty(staging)
        if !NewFolder.isEmpty(staging) { try NewFolder.make(staging) }
        // The mark must be on the disk before anything is moved.
        try NewFolder.sync(state.path)
    }

    private func path(_ name: String, in folder: String) -> String { folder + "/" + name }

    // MARK: Copying and checking

    private func copy() throws -> Summary {
        var summary = Summary()
        var copy = FolderCopy()
        for name in Self.databases {
            let source = path(name, in: backup)
            guard NewFolder.size(of: source) != nil else { continue }
            let target = path(name, in: staging)
            try copy.copyFile(source, to: target)
            // A backup has neither, but the folder with a state that was set aside may have one.
            for suffix in [Self.log, Self.journal] where NewFolder.size(of: source + suffix) != nil
            {
                try copy.copyFile(source + suffix, to: target + suffix)
            }
            guard copy.omitted == 0 else { throw BackupError("\(source) is no file") }
            if name == StateDirectory.storeName {
                try StoreCopy.prepare(store: target, from: source)
            } else {
                try StoreCopy.check(transfers: target, from: source)
                summary.hasTransfers = true
            }
        }
        let data = path(StateDirectory.dataName, in: backup)
        if NewFolder.size(of: data) != nil {
            let target = path(StateDirectory.dataName, in: staging)
            try copy.copy(data, to: target)
            summary.plugins = try Self.folders(in: target)
        }
        summary.bytes = copy.bytes
        return summary
    }

    // MARK: What is there

    /// The names in the state directory that the backup takes the place of.
    private func present(besides plugins: [String]) throws -> [String] {
        var names: [String] = []
        for database in Self.databases {
            // SQLite would apply those of the old database to the new one.
            names += ["", Self.log, Self.journal, "-shm"].map { database + $0 }
        }
        names += plugins.map { "\(StateDirectory.dataName)/\($0)" }
        let found = names.filter { name in
            let place = path(name, in: state.path)
            // An empty folder holds nothing that could be lost, and a renamed folder takes its place.
            let isEmptyFolder = name.contains("/") && NewFolder.isEmpty(place)
            return NewFolder.size(of: place) != nil && !isEmptyFolder
        }
        guard found.isEmpty || replaces else {
            throw BackupError(
                "\(state.path) has a state already: \(found.joined(separator: ", "))",
                fix: "add --replace to set it aside in a folder beside it"
            )
        }
        return found
    }

    /// - Returns: the folder with what was there; `nil` if there was nothing.
    private func setAside(_ names: [String]) throws -> String? {
        let begun = try begunAside(besides: names)
        guard begun != nil || !names.isEmpty else { return nil }
        let folder = begun ?? aside + Self.unfinished
        if begun == nil { try NewFolder.make(folder) }
        let data = path(StateDirectory.dataName, in: folder)
        for name in names {
            if name.contains("/"), NewFolder.size(of: data) == nil { try NewFolder.make(data) }
            try NewFolder.rename(path(name, in: state.path), to: path(name, in: folder))
        }
        try NewFolder.sync(path(StateDirectory.dataName, in: state.path))
        if NewFolder.size(of: data) != nil { try NewFolder.sync(data) }
        let complete = String(folder.dropLast(Self.unfinished.count))
        try NewFolder.give(folder, itsName: complete)
        return complete
    }

    /// The folder in which an interrupted restore began to set aside the state that `names` are the rest of.
    private func begunAside(besides names: [String]) throws -> String? {
        let folders = try FolderNames.of(state.path).filter {
            $0.hasPrefix(Self.asidePrefix) && $0.hasSuffix(Self.unfinished)
        }
        return folders.sorted().map { path($0, in: state.path) }.last { folder in
            guard !NewFolder.isEmpty(folder) else { return true }
            // The store goes first: if the state has one, the folder is what is left of another state.
            return !names.contains(StateDirectory.storeName)
                && names.allSatisfy { NewFolder.size(of: path($0, in: folder)) == nil }
        }
    }

    private func moveIn(_ summary: Summary) throws {
        for plugin in summary.plugins {
            let name = "\(StateDirectory.dataName)/\(plugin)"
            try NewFolder.rename(path(name, in: staging), to: path(name, in: state.path))
        }
        for name in Self.databases.reversed().flatMap({ [$0 + Self.log, $0] })
        where NewFolder.size(of: path(name, in: staging)) != nil {
            try NewFolder.rename(path(name, in: staging), to: path(name, in: state.path))
        }
        try NewFolder.sync(path(StateDirectory.dataName, in: state.path))
        try NewFolder.sync(state.path)
    }

    /// The folders in a folder, sorted; anything else in it is no plugin's.
    private static func folders(in folder: String) throws(SystemError) -> [String] {
        try FolderNames.of(folder).filter { name in
            var status = stat()
            return lstat(folder + "/" + name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }.sorted()
    }
}
