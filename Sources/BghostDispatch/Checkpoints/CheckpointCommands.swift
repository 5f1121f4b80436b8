// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
package import BghostModel
internal import BghostPolicy
package import BghostServices
internal import BghostStore

/// Checkpoints of requests: saves and loads of their runs, and what an operator asks of them.
///
/// The host owns it. Use it on the reactor's thread only; it does not block: another thread reads the
/// store.
package final class CheckpointCommands {
    private static let candidatesMax = 8

    private let commits: CommitQueue
    private let history: HistoryReader
    private let clock: DaemonClock
    private let log: HostLog

    package init(
        _ commits: CommitQueue,
        _ history: HistoryReader,
        _ clock: DaemonClock,
        log: HostLog
    ) {
        self.commits = commits
        self.history = history
        self.clock = clock
        self.log = log
    }

    // MARK: Runs

    /// What the checkpoints of a plugin count against its memory limit, bytes.
    package func bytes(ofPlugin plugin: String) -> Int {
        commits.checkpoints.bytes(ofPlugin: plugin)
    }

    /// Stores the checkpoint of a run's request, or deletes it if there are no bytes.
    ///
    /// The caller has checked that the run is in progress. Transactions keep the order of the calls, so the
    /// checkpoint is stored before the end of the run, and before a later run saves another.
    ///
    /// - Parameter then: gets whether it is stored; what was stored before is kept if not.
    package func save(
        _ bytes: [UInt8],
        by run: RunRecord,
        then: @escaping (Bool) -> Void
    ) {
        let about = CheckpointSummary(of: run, length: bytes.count, now: clock.wall)
        let change: StoreChange =
            bytes.isEmpty
            ? .checkpointDeleted(run.request) : .checkpointSaved(Checkpoint(about, bytes))
        commits.commitOrRefuse([change]) { result in
            let isStored = if case .success = result { true } else { false }
            then(isStored)
        }
    }

    /// The answer to a run that asks for the checkpoint of its request.
    package enum Loaded: Sendable {
        case none
        case found([UInt8])
        case unreadable
    }

    /// Reads the checkpoint of a request; that of another plugin counts as none.
    package nonisolated(nonsending) func load(_ request: RunID, plugin: String) async -> Loaded {
        // The store answers also what is on its way to the disk, such as the last save of a killed run.
        switch await history.ask({ $0.checkpoint(ofRequest: request) }) {
        case .none: return .none
        case .unreadable: return .unreadable
        case .found(let checkpoint):
            return checkpoint.about.plugin == plugin ? .found(checkpoint.bytes) : .none
        }
    }

    // MARK: The operator

    /// The checkpoint of a request, also if its bytes cannot be read; `nil` if it has none.
    package nonisolated(nonsending) func checkpoint(
        ofRequest id: RunID
    ) async -> CheckpointSummary? {
        let (about, stored) = await history.ask { store in
            (
                store.checkpoints(idPrefix: id.description, limit: 1).first,
                store.checkpoint(ofRequest: id)
            )
        }
        return switch stored {
        case .none: nil
        case .unreadable: about
        case .found(let checkpoint): checkpoint.about
        }
    }

    /// Deletes the checkpoint of the request whose id has this prefix; returns when that is stored.
    ///
    /// A run in progress keeps what it has loaded, and may save another.
    package nonisolated(nonsending) func delete(
        _ prefix: String
    ) async throws(OperatorRefusal) -> CheckpointSummary {
        let limit = Self.candidatesMax + 1
        let found = await history.ask { $0.checkpoints(idPrefix: prefix, limit: limit) }
            .filter { commits.checkpoints.has($0.request) }
        let shown = PrintableText.escaped(String(prefix.prefix(40)))
        guard let about = found.first else {
            throw OperatorRefusal(
                .noSuchCheckpoint,
                "no request whose id begins with \(shown) has a checkpoint",
                fix:
                    "`bghost show RUN` shows the checkpoint of a run's request, and the request's id"
            )
        }
        guard found.count == 1 else {
            throw OperatorRefusal(
                .ambiguousRequest,
                "\(found.count < limit ? "\(found.count)" : "more than \(Self.candidatesMax)")"
                    + " requests with a checkpoint have an id that begins with \(shown)",
                fix: "give more characters",
                candidates: found.prefix(Self.candidatesMax).map { "\($0.request) \($0.task)" }
            )
        }
        let changes = commits.audited([.checkpointDeleted(about.request)])
        if case .failure(let error) = await commits.committedOrRefused(changes) {
            throw OperatorRefusal(
                .storeFailed,
                "no checkpoint is deleted, since that could not be stored: \(error.message)",
                fix: "check the disk, then repeat the command"
            )
        }
        log.write(
            .info,
            "checkpoint.deleted",
            "an operator deleted the checkpoint of \(about.request): \(about.length) bytes of attempt"
                + " \(about.attempt)",
            task: about.task,
            plugin: about.plugin
        )
        return about
    }
}
