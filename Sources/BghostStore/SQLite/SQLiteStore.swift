// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import Synchronization

/// A store in one SQLite file, which survives the daemon and the machine.
///
/// `commit` hands its transaction to a thread of its own and returns at once, or carries it out
/// itself where somebody waits for it and nothing else is under way. The completion is called on
/// either thread after the sync, so it must be short and must neither call `recover` nor `close`. The questions are answered on the caller's thread from a second connection, which does
/// not wait for syncs, and from what waits to be written.
///
/// After a failed sync or a damaged page every further commit fails: what the disk then holds is
/// not known, and only a new start looks. A full disk fails the commits that do not fit, and no
/// others.
package final class SQLiteStore: Store {
    let path: String
    let report: @Sendable (StoreError) -> Void
    private let retention: Retention
    private let stage: Mutex<Stage>

    /// A store is first only read; it is written to once all that it holds has been seen.
    private enum Stage {
        case found(FoundStore)
        case open(OpenStore)
        case refused(StoreError)
        case closed
    }

    /// Opens the file, or makes it.
    ///
    /// An old one is not written to before `recover` has read and checked all requests, so that a
    /// damaged file is left as it is. A commit or a question that comes before does that, too.
    ///
    /// - Parameters:
    ///   - path: of the database; its folder must exist. `-wal`, `-shm` and `-lock` lie beside it.
    ///   - retention: how much of the past is kept.
    ///   - quickCheckMax: a store that was not closed is read page by page at its opening, unless it
    ///     is bigger than this, bytes.
    ///   - report: faults that no caller is told of, on any thread.
    package init(
        path: String,
        retention: Retention = Retention(),
        quickCheckMax: Int64 = 64 << 20,
        report: @escaping @Sendable (StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        self.path = path
        self.retention = retention
        self.report = report
        stage = Mutex(.found(try StoreOpening(path: path, quickCheckMax: quickCheckMax).find()))
    }

    deinit { close() }

    package func commit(
        _ changes: [StoreChange],
        isAwaited: Bool,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        do throws(StoreError) {
            try open().committer.commit(changes, isAwaited: isAwaited, completion)
        } catch {
            completion(.failure(error))
        }
    }

    /// Transactions that are not answered yet: what an overloaded host refuses new ones by.
    package var waiting: Int {
        stage.withLock { stage -> Int in
            guard case .open(let store) = stage else { return 0 }
            return store.committer.waiting
        }
    }

    /// Reads all that it holds, and checks it.
    ///
    /// The first call begins to write, with a new incarnation. Later ones wait for all commits.
    package func recover(
        expecting expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(StoreError) -> RecoveredState {
        let first = try stage.withLock { stage throws(StoreError) in
            try Self.open(&stage, path, retention, report, expect, each)
        }
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

    /// What commits and answers, begun if that has not been done.
    func open() throws(StoreError) -> OpenStore {
        try stage.withLock { stage throws(StoreError) in
            if case .open(let store) = stage { return store }
            return try Self.open(&stage, path, retention, report, { _ in }, { _ in }).store
        }
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
                // Its lock and its connection go with what was found.
                let error = error.error("open the store", in: path)
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
