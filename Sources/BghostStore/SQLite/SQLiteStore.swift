// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
package import BghostPolicy
internal import Synchronization

/// A store in one SQLite file, which survives a restart of the daemon and of the machine.
///
/// `commit` passes its transaction to another thread and returns at once, or writes it on the
/// calling thread if the caller waits for it and no other transaction is being written. The
/// completion is called on either thread after the sync, so it must be short and must call neither
/// `recover` nor `close`. The caller's thread answers queries from a second connection, which does
/// not wait for syncs, and from the transactions that are not written yet.
///
/// After a failed sync or a damaged page every further commit fails: the content of the disk is
/// then unknown, and only a restart reads it again. If the disk is full, or another program holds
/// the file, commits with the policy `.refuse` fail, and the others wait in memory, in order, until
/// they are written; `health` reports this.
package final class SQLiteStore: Store {
    let path: String
    let report: @Sendable (StoreError) -> Void
    private let retention: Mutex<Retention>
    private let stage: Mutex<Stage>
    private let observer = Mutex<(@Sendable () -> Void)?>(nil)

    /// A store is first only read; it is written to after its whole content has been read.
    private enum Stage {
        case found(FoundStore)
        case open(OpenStore)
        case refused(StoreError)
        case closed
    }

    /// Opens the file or creates it.
    ///
    /// An existing file is not written to before `recover` has read and checked all requests, so
    /// that a damaged file stays unchanged. A commit or query before `recover` reads and checks it
    /// too.
    ///
    /// - Parameters:
    ///   - path: the database; its folder must exist. `-wal`, `-shm` and `-lock` are created beside
    ///     it.
    ///   - retention: how much history is kept.
    ///   - quickCheckMax: a store that was not closed is checked page by page when it is opened,
    ///     unless it is larger than this, bytes.
    ///   - report: receives errors that no caller gets, on any thread.
    package init(
        path: String,
        retention: Retention = Retention(),
        quickCheckMax: Int64 = 64 << 20,
        report: @escaping @Sendable (StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        self.path = path
        self.retention = Mutex(retention)
        self.report = report
        stage = Mutex(.found(try StoreOpening(path: path, quickCheckMax: quickCheckMax).find()))
    }

    deinit { close() }

    package func commit(
        _ changes: [StoreChange],
        isAwaited: Bool,
        onFailure: CommitFailurePolicy,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        do throws(StoreError) {
            try open().committer.commit(
                changes,
                isAwaited: isAwaited,
                onFailure: onFailure,
                completion
            )
        } catch {
            completion(.failure(error))
        }
    }

    package var health: StoreHealth { opened?.committer.health ?? StoreHealth() }

    package func onHealthChange(_ body: @escaping @Sendable () -> Void) {
        observer.withLock { $0 = body }
        opened?.committer.onHealthChange(body)
    }

    package func keep(history policy: HistoryPolicy) {
        retention.withLock { $0.policy = policy }
        opened?.committer.keep(policy)
    }

    package func retryNow() { opened?.committer.hint() }

    package func answer(_ body: @escaping @Sendable () -> Void) {
        // A store that is only read has no thread yet, and a closed one has none any more.
        guard let opened else { return body() }
        opened.committer.answer(body)
    }

    package func flush(until deadline: MonotonicInstant) -> Int {
        opened?.committer.flush(until: deadline) ?? 0
    }

    package func abortFlush() { opened?.committer.abortFlush() }

    /// The committer and reader, if the store is open.
    private var opened: OpenStore? {
        stage.withLock { stage -> OpenStore? in
            if case .open(let store) = stage { store } else { nil }
        }
    }

    /// Reads and checks the whole content.
    ///
    /// The first call starts writing, with a new incarnation. Later calls wait for all commits.
    package func recover(
        expecting expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(StoreError) -> RecoveredState {
        let first = try stage.withLock { stage throws(StoreError) in
            try Self.open(&stage, path, retention.withLock { $0 }, report, expect, each)
        }
        watch(first.store)
        if let state = first.recovered { return state }
        first.store.committer.flush()
        do throws(SQLiteFailure) {
            return try first.store.ask { reader throws(SQLiteFailure) in
                try Recovery.read(reader.connection, expecting: expect, each)
            }
        } catch {
            throw error.error("read the requests", in: path)
        }
    }

    /// The committer and reader; opens the store if necessary.
    func open() throws(StoreError) -> OpenStore {
        let (store, isNew) = try stage.withLock { stage throws(StoreError) in
            if case .open(let store) = stage { return (store, false) }
            return (
                try Self.open(&stage, path, retention.withLock { $0 }, report, { _ in }, { _ in })
                    .store, true
            )
        }
        if isNew { watch(store) }
        return store
    }

    private func watch(_ store: OpenStore) {
        guard let body = observer.withLock({ $0 }) else { return }
        store.committer.onHealthChange(body)
    }

    private static func open(
        _ stage: inout Stage,
        _ path: String,
        _ retention: Retention,
        _ report: @escaping @Sendable (StoreError) -> Void,
        _ expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(StoreError) -> (store: OpenStore, recovered: RecoveredState?) {
        switch stage {
        case .open(let store): return (store, nil)
        case .closed: throw StoreError("the store \(path) is closed")
        case .refused(let error): throw error
        case .found(let found):
            do throws(SQLiteFailure) {
                let (store, state) = try OpenStore.open(
                    found,
                    retention,
                    report,
                    expect,
                    each
                )
                stage = .open(store)
                return (store, state)
            } catch {
                // Opening has already released the lock and the connection.
                let error = error.error("open the store", in: path, for: .start)
                stage = .refused(error)
                throw error
            }
        }
    }

    package func backup(to path: String) throws(StoreError) {
        try open().committer.flush()
        try StoreBackup(source: self.path, target: path).run()
    }

    package func close() {
        let before = stage.withLock { stage in
            defer { stage = .closed }
            return stage
        }
        switch before {
        case .open(let store): store.close()
        case .found(let found): found.close()
        case .refused, .closed: break
        }
    }
}
