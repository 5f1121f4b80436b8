// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBackup
internal import BghostBase
internal import BghostLinux
internal import BghostModel
package import BghostServices
package import BghostStore
package import BghostTransferRules
internal import Glibc

/// Writes backups of the state while it is in use, one at a time.
///
/// The host owns it. Use it on the reactor's thread only; another thread writes.
package final class BackupCommand {
    private let store: any Store
    private let transfers: () -> (any TransferJournal)?
    private let state: StateDirectory
    private let log: HostLog
    private var isBackingUp = false

    /// - Parameter transfers: the journal of transfers; `nil` while the daemon has none.
    package init(
        _ store: any Store,
        transfers: @escaping () -> (any TransferJournal)?,
        state: StateDirectory,
        log: HostLog
    ) {
        self.store = store
        self.transfers = transfers
        self.state = state
        self.log = log
    }

    /// Writes a backup.
    ///
    /// - Parameters:
    ///   - path: absolute; nothing must be there.
    ///   - includesData: whether the data directories of plugins are copied, too.
    package nonisolated(nonsending) func backUp(
        to path: String,
        includesData: Bool
    ) async throws(OperatorRefusal) -> BackupReport {
        guard path.hasPrefix("/"), !path.utf8.contains(0), path.utf8.count < Int(PATH_MAX) else {
            throw OperatorRefusal(
                .backupFailed,
                "the folder of a backup needs an absolute path of less than \(PATH_MAX) bytes"
            )
        }
        guard !isBackingUp else {
            throw OperatorRefusal(
                .backupFailed,
                "another backup is being written",
                fix: "try again once it has ended"
            )
        }
        isBackingUp = true
        defer { isBackingUp = false }
        let writer = BackupWriter(
            store: store,
            transfers: transfers(),
            state: state.path,
            includesData: includesData
        )
        let result = await withCheckedContinuation { continuation in
            // Use a dedicated thread: a backup reads the whole store and must delay neither this
            // thread nor the starts of workers.
            let thread = WorkThread()
            thread.perform {
                continuation.resume(
                    returning: Result { () throws(BackupError) in try writer.write(to: path) }
                )
            }
            thread.end()
        }
        switch result {
        case .success(let summary):
            let (bytes, omitted) = (summary.bytes, summary.omitted)
            log.write(
                .info,
                "store.backed_up",
                "\(bytes) bytes to \(PrintableText.escaped(path))"
                    + (omitted > 0 ? "; left out \(CountText.of(omitted, "file"))" : "")
            )
            return BackupReport(bytes: bytes, omitted: omitted)
        case .failure(let error):
            throw OperatorRefusal(
                .backupFailed,
                "the daemon (process \(getpid()), user \(geteuid())) wrote no backup:"
                    + " \(error.message)",
                fix: error.fix.isEmpty
                    ? "name a new folder in one that the daemon's user may write" : error.fix
            )
        }
    }
}
