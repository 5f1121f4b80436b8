// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostServices
package import BghostStore
package import BghostTransferRules
internal import Glibc

/// Writes a backup while the daemon runs.
///
/// A backup is a folder with the names of a state directory: the store, the journal of transfers if there
/// are any, and, if asked, the data directories of the plugins. The folder gets its name when all of it
/// is on the disk, so an interrupted backup never looks like a complete one.
package struct BackupWriter: Sendable {
    /// What a backup contains.
    package struct Summary: Equatable, Sendable {
        /// The size of its files without holes, bytes.
        package var bytes: UInt64 = 0
        /// The number of files in data directories that cannot be copied, such as sockets.
        package var omitted = 0
    }

    private let store: any Store
    private let transfers: (any TransferJournal)?
    private let state: String
    private let includesData: Bool

    /// - Parameters:
    ///   - transfers: the journal of transfers; `nil` if the daemon has none.
    ///   - state: the state directory.
    ///   - includesData: whether the data directories of plugins are copied, too.
    package init(
        store: any Store,
        transfers: (any TransferJournal)?,
        state: String,
        includesData: Bool
    ) {
        self.store = store
        self.transfers = transfers
        self.state = state
        self.includesData = includesData
    }

    /// Writes the backup; blocks until it is on the disk.
    ///
    /// - Parameter folder: absolute; it must not exist, and its parent must.
    package func write(to folder: String) throws(BackupError) -> Summary {
        // The name of what is unfinished is made of it.
        guard !folder.hasSuffix("/") else { return try write(to: String(folder.dropLast())) }
        try checkPlace(folder)
        guard access(folder, F_OK) != 0, errno == ENOENT else {
            throw BackupError("\(folder) exists already; give a name that is free")
        }
        let unfinished = folder + ".unfinished"
        try removeLeft(unfinished)
        do throws(BackupError) {
            return try BackupError.rethrowing {
                try NewFolder.make(unfinished)
                let summary = try fill(unfinished)
                try NewFolder.give(unfinished, itsName: folder)
                return summary
            }
        } catch {
            FileTree.remove(unfinished)
            throw error
        }
    }

    /// Throws if the backup would be a part of the data that it copies.
    private func checkPlace(_ folder: String) throws(BackupError) {
        guard includesData, let data = NewFolder.resolved(dataPath),
            let parent = NewFolder.resolved(NewFolder.parent(of: folder))
        else { return }
        guard parent == data || parent.hasPrefix(data + "/") else { return }
        throw BackupError(
            "\(folder) lies in the data directories of the plugins and would be a part of itself",
            fix: "name a folder outside of \(dataPath)"
        )
    }

    private var dataPath: String { "\(state)/\(StateDirectory.dataName)" }

    /// Removes what an interrupted backup has left, and nothing else.
    ///
    /// Where others may write too, such as /tmp, a link of theirs could lead anywhere.
    private func removeLeft(_ folder: String) throws(BackupError) {
        // What is not there is not in the way.
        guard let facts = try? FileFacts(of: folder, followsLinks: false) else { return }
        guard facts.kind == .folder, facts.owner == geteuid() else {
            throw BackupError("\(folder) is in the way, and is not what a backup has left")
        }
        FileTree.remove(folder)
    }

    private func fill(_ folder: String) throws -> Summary {
        var summary = Summary()
        // The transfers come first: one that ends meanwhile is repeated after a restore. In the other
        // order its end would be lost, with the handler that waits for it.
        if let transfers {
            let copy = "\(folder)/\(StateDirectory.transfersName)"
            try transfers.backup(to: copy)
            // Transfers in memory have no file.
            if let bytes = NewFolder.size(of: copy) { summary.bytes += bytes }
        }
        let copy = "\(folder)/\(StateDirectory.storeName)"
        try store.backup(to: copy)
        summary.bytes += NewFolder.size(of: copy) ?? 0
        guard includesData else { return summary }
        var data = FolderCopy()
        try data.copy(dataPath, to: "\(folder)/\(StateDirectory.dataName)")
        summary.bytes += data.bytes
        summary.omitted = data.omitted
        return summary
    }
}
