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
internal import Synchronization

/// Writes backups of the state while it is in use, one at a time.
///
/// The host owns it. Use it on the reactor's thread only; another thread writes.
package final class BackupCommand {
    /// How long a drain waits for a backup, nanoseconds; service managers kill what stops too slowly.
    private static let finishMax: UInt64 = 30_000_000_000

    private let store: any Store
    private let transfers: () -> (any TransferJournal)?
    private let state: StateDirectory
    private let log: HostLog
    private var isBackingUp = false
    private let open = OpenBackups()
    /// Whether no backup begins any more.
    package private(set) var isFinishing = false

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
        guard !isFinishing else {
            throw OperatorRefusal(
                .backupFailed,
                "the daemon is stopping",
                fix: "try again once it runs again"
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
        open.begin()
        defer {
            isBackingUp = false
            // The store must not be closed before it has the last row of the audit about the backup.
            AuditDetail.whenNoted { [open] in open.end() }
        }
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

    // MARK: The end of the daemon

    /// Returns when no backup is under way and the store has the rows of the audit about them, or after a
    /// bounded time; later backups are refused.
    package nonisolated(nonsending) func finish() async {
        isFinishing = true
        guard open.isUnderWay else { return }
        let timer = open.abandon(after: Self.finishMax)
        await open.wait()
        timer.cancel()
    }

    /// Makes ``finish()`` return at once.
    package func abandon() { open.abandon() }
}

/// Counts the backups whose last row of the audit is not stored.
private final class OpenBackups: Sendable {
    private struct State {
        var count = 0
        var isAbandoned = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isUnderWay: Bool { state.withLock { $0.count > 0 } }

    func begin() { state.withLock { $0.count += 1 } }

    func end() { resume { $0.count -= 1 } }

    func abandon() { resume { $0.isAbandoned = true } }

    /// - Parameter delay: nanoseconds, unless the caller cancels the task.
    func abandon(after delay: UInt64) -> Task<Void, Never> {
        Task {
            // It throws if it is cancelled, when nothing waits any more.
            try? await Task.sleep(nanoseconds: delay)
            abandon()
        }
    }

    nonisolated(nonsending) func wait() async {
        await withCheckedContinuation { continuation in
            resume { $0.waiting.append(continuation) }
        }
    }

    /// Changes the state, then resumes those who wait if there is nothing to wait for.
    private func resume(after change: (inout State) -> Void) {
        let waiting: [CheckedContinuation<Void, Never>] = state.withLock { state in
            change(&state)
            guard state.count == 0 || state.isAbandoned else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
