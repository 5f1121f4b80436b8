// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostLinux
internal import BghostModel
package import BghostServices
package import BghostStore
internal import Glibc

/// Writes backups of the store while it is in use, one at a time.
///
/// The host owns it. Use it on the reactor's thread only; another thread writes.
package final class BackupCommand {
    private let store: any Store
    private let log: HostLog
    private var isBackingUp = false

    package init(_ store: any Store, log: HostLog) {
        self.store = store
        self.log = log
    }

    /// Writes a backup, and returns its size in bytes.
    ///
    /// - Parameter path: absolute; the file must not exist.
    package nonisolated(nonsending) func backUp(
        to path: String
    ) async throws(OperatorRefusal) -> UInt64 {
        guard path.hasPrefix("/"), !path.utf8.contains(0), path.utf8.count < Int(PATH_MAX) else {
            throw OperatorRefusal(
                .backupFailed,
                "the file of a backup needs an absolute path of less than \(PATH_MAX) bytes"
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
        let result = await withCheckedContinuation { continuation in
            // Use a dedicated thread: a backup reads the whole store and must delay neither this
            // thread nor the starts of workers.
            let thread = WorkThread()
            thread.perform { [store] in
                continuation.resume(
                    returning: Result { () throws(StoreError) in
                        try store.backup(to: path)
                        var status = stat()
                        return stat(path, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
                    }
                )
            }
            thread.end()
        }
        switch result {
        case .success(let bytes):
            log.write(.info, "store.backed_up", "\(bytes) bytes to \(PrintableText.escaped(path))")
            return bytes
        case .failure(let error):
            throw OperatorRefusal(
                .backupFailed,
                "the daemon (process \(getpid()), user \(geteuid())) wrote no backup:"
                    + " \(error.message)",
                fix: "name a new file in a folder that the daemon's user may write"
            )
        }
    }
}
