// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
package import BghostServices
internal import BghostStore
internal import Glibc

/// Puts a backup into a state directory that no daemon uses.
///
/// Everything is copied and checked before anything of the state directory changes. What was there is set
/// aside in a folder of the state directory, never removed. An interrupted restore leaves either the old
/// store, the new one, or none, which a daemon refuses to start with, because the lock file tells of it;
/// the command can then be repeated.
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
        staging = state.path + "/restore.unfinished"
        // Two restores may come within a second.
        var aside = state.path + "/replaced-" + stamp
        while NewFolder.size(of: aside) != nil { aside += "-2" }
        self.aside = aside
    }

    /// Restores the backup; blocks until it is on the disk.
    package func restore() throws(BackupError) -> Summary {
        guard NewFolder.size(of: path(StateDirectory.storeName, in: backup)) != nil else {
            throw BackupError(
                "\(backup) is no backup: it has no \(StateDirectory.storeName)",
                fix: "name a folder that `bghost backup` wrote"
            )
        }
        FileTree.remove(staging)
        defer { FileTree.remove(staging) }
        return try BackupError.rethrowing {
            try NewFolder.make(staging)
            var summary = try copy()
            let old = try present(besides: summary.plugins)
            if !old.isEmpty {
                try setAside(old)
                summary.aside = aside
            }
            try moveIn(summary)
            return summary
        }
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
            // A backup has no log, but the folder with a state that was set aside may have one.
            if NewFolder.size(of: source + Self.log) != nil {
                try copy.copyFile(source + Self.log, to: target + Self.log)
            }
            guard copy.omitted == 0 else { throw BackupError("\(source) is no file") }
            if name == StateDirectory.storeName {
                try StoreCopy.prepare(store: target)
            } else {
                try StoreCopy.check(transfers: target)
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
            // SQLite would apply the log of the old database to the new one.
            names += [database, database + Self.log, database + "-shm"]
        }
        names += plugins.map { "\(StateDirectory.dataName)/\($0)" }
        let found = names.filter { name in
            let place = path(name, in: state.path)
            guard NewFolder.size(of: place) != nil else { return false }
            // An empty folder holds nothing that could be lost.
            return rmdir(place) != 0
        }
        guard found.isEmpty || replaces else {
            throw BackupError(
                "\(state.path) has a state already: \(found.joined(separator: ", "))",
                fix: "add --replace to set it aside in a folder beside it"
            )
        }
        return found
    }

    private func setAside(_ names: [String]) throws {
        try NewFolder.make(aside)
        let hasData = names.contains { $0.hasPrefix(StateDirectory.dataName + "/") }
        if hasData { try NewFolder.make(path(StateDirectory.dataName, in: aside)) }
        for name in names {
            try NewFolder.rename(path(name, in: state.path), to: path(name, in: aside))
        }
        for folder in [aside, state.path] {
            if hasData { try NewFolder.sync(path(StateDirectory.dataName, in: folder)) }
            try NewFolder.sync(folder)
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
