// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
package import BghostModel
internal import BghostPolicy
package import BghostServices
internal import BghostStore

/// Checkpoints of requests: saves and loads of their runs, and what an operator asks of them.
///
/// The saves and loads of a request take turns, so a load never returns a save that the store refuses later. Of
/// the saves that wait, only the newest is written; the others get its result.
///
/// A plugin has at most one transaction on its way to a slow disk, with at most ``transactionBytesMax``, however
/// many workers save. So its saves delay the commits of others by that much at the most. Each save costs O(1), but
/// for the requests of the plugin that wait beside it.
///
/// The host owns it. Use it on the reactor's thread only; it does not block: another thread reads the
/// store.
package final class CheckpointCommands {
    private static let candidatesMax = 8
    /// The most bytes of one transaction with saves: those of a plugin that wait share one.
    static let transactionBytesMax = 256 << 10

    /// A save, and the callers that wait for its result.
    struct Save {
        var bytes: [UInt8]
        let run: RunRecord
        let isLive: () -> Bool
        var callers: [(Bool) -> Void]
    }

    /// What is under way for a request, either a save or loads, and what waits for it.
    struct Turn {
        var isSaving = false
        /// Whether its save waits for others of the plugin.
        var isQueued = false
        var loads = 0
        var waitingSave: Save?
        var waitingLoads: [CheckedContinuation<Void, Never>] = []
    }

    /// The saves of a plugin.
    struct Queue {
        /// Whether a transaction with some of them is under way.
        var isWriting = false
        /// The requests whose next save waits for that, the first at the beginning.
        var requests: [RunID] = []
    }

    /// A request that no run saves or loads has none.
    private(set) var turns: [RunID: Turn] = [:]
    /// A plugin that saves nothing has none.
    private(set) var queues: [String: Queue] = [:]

    /// How many runs are known whose checkpoints were refused; then the log names them again.
    private static let refusedMax = 256
    private var refused: Set<RunID> = []
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
    /// The caller has checked that the run is in progress. Transactions keep the order of the calls, so a
    /// checkpoint that is given to the store is stored before the end of the run, and before a later run
    /// saves another.
    ///
    /// - Parameters:
    ///   - isLive: whether the run is still in progress; a save that waits for its turn is not written after
    ///     the end of the run, which has deleted or kept the checkpoint.
    ///   - then: gets whether it, or one that the run has saved after it, is stored; what was stored before
    ///     is kept if not.
    package func save(
        _ bytes: [UInt8],
        by run: RunRecord,
        while isLive: @escaping () -> Bool,
        then: @escaping (Bool) -> Void
    ) {
        let request = run.request
        if commits.fleet?.has(request) == true {
            noteRefusal(run)
            return then(false)
        }
        let isIdle = turns[request] == nil
        if turns[request]?.waitingSave?.run.id == run.id {
            turns[request]?.waitingSave?.bytes = bytes
            turns[request]?.waitingSave?.callers.append(then)
            return
        }
        // The run of another save that waits is over, since this one has the request.
        for caller in turns[request]?.waitingSave?.callers ?? [] { caller(false) }
        turns[request, default: Turn()].waitingSave = Save(
            bytes: bytes,
            run: run,
            isLive: isLive,
            callers: [then]
        )
        if isIdle { enqueue(request, of: run.plugin) }
    }

    /// Notes once for each run that nothing of it is saved, because the next owner would not have it.
    private func noteRefusal(_ run: RunRecord) {
        if refused.count >= Self.refusedMax { refused = [] }
        guard refused.insert(run.id).inserted else { return }
        log.write(
            .warning,
            "checkpoint.refused",
            "no checkpoint of request \(run.request) is saved: it lives in the fleet"
                + " (`\"runs\": \"inFleet\"`), and another host that repeats it would not have the checkpoint;"
                + " keep what must last in a store that all hosts reach",
            task: run.task,
            plugin: run.plugin
        )
    }

    /// Has the waiting save of a request written after those of its plugin that wait already.
    private func enqueue(_ request: RunID, of plugin: String) {
        turns[request]?.isQueued = true
        queues[plugin, default: Queue()].requests.append(request)
        writeNext(of: plugin)
    }

    /// Writes the saves of a plugin that wait, as many as one transaction may have.
    private func writeNext(of plugin: String) {
        guard queues[plugin]?.isWriting == false else { return }
        // What is not written any more may enqueue others.
        queues[plugin]?.isWriting = true
        let saves = takeSaves(of: plugin)
        guard !saves.isEmpty else {
            queues[plugin] = nil
            return
        }
        let changes = saves.map { save -> StoreChange in
            let about = CheckpointSummary(of: save.run, length: save.bytes.count, now: clock.wall)
            return save.bytes.isEmpty
                ? .checkpointDeleted(save.run.request)
                : .checkpointSaved(Checkpoint(about, save.bytes))
        }
        commits.commitOrRefuse(changes) { [unowned self] result in
            let isStored = if case .success = result { true } else { false }
            for save in saves {
                for caller in save.callers { caller(isStored) }
                turns[save.run.request]?.isSaving = false
                beginWaiting(with: save.run.request, afterSave: true)
            }
            queues[plugin]?.isWriting = false
            writeNext(of: plugin)
        }
    }

    /// Removes the saves that the next transaction of a plugin has from those that wait.
    private func takeSaves(of plugin: String) -> [Save] {
        var (taken, bytes) = ([Save](), 0)
        var count = 0
        // More may be added meanwhile.
        while let requests = queues[plugin]?.requests, count < requests.count {
            let request = requests[count]
            guard let save = turns[request]?.waitingSave else {
                turns[request]?.isQueued = false
                count += 1
                continue
            }
            let size = save.bytes.count + Checkpoint.overheadBytes
            guard taken.isEmpty || bytes + size <= Self.transactionBytesMax else { break }
            // A deletion needs no room: it does not fail with a save that has none.
            guard save.bytes.isEmpty == (taken.first ?? save).bytes.isEmpty else { break }
            count += 1
            turns[request]?.isQueued = false
            turns[request]?.waitingSave = nil
            guard save.isLive() else {
                for caller in save.callers { caller(false) }
                beginWaiting(with: request, afterSave: true)
                continue
            }
            turns[request]?.isSaving = true
            bytes += size
            taken.append(save)
        }
        queues[plugin]?.requests.removeFirst(count)
        return taken
    }

    /// Begins what waits, if nothing is under way: loads after a save, and a save after loads.
    private func beginWaiting(with request: RunID, afterSave: Bool) {
        guard let turn = turns[request], !turn.isSaving, !turn.isQueued, turn.loads == 0 else {
            return
        }
        if let save = turn.waitingSave, !afterSave || turn.waitingLoads.isEmpty {
            return enqueue(request, of: save.run.plugin)
        }
        guard !turn.waitingLoads.isEmpty else {
            turns[request] = nil
            return
        }
        turns[request]?.loads = turn.waitingLoads.count
        turns[request]?.waitingLoads = []
        for load in turn.waitingLoads { load.resume() }
    }

    /// The answer to a run that asks for the checkpoint of its request.
    package enum Loaded: Sendable {
        case none
        case found([UInt8])
        case unreadable
    }

    /// Reads the checkpoint of a request; that of another plugin counts as none.
    ///
    /// It waits until the save that is under way has its result, such as the last one of a killed run.
    package nonisolated(nonsending) func load(_ request: RunID, plugin: String) async -> Loaded {
        if let turn = turns[request], turn.isSaving || turn.waitingSave != nil {
            await withCheckedContinuation { turns[request]?.waitingLoads.append($0) }
        } else {
            turns[request, default: Turn()].loads += 1
        }
        let stored = await history.ask(isOwn: true) { $0.checkpoint(ofRequest: request) }
        turns[request]?.loads -= 1
        beginWaiting(with: request, afterSave: false)
        switch stored {
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
                fix: "`bghost checkpoints` lists them"
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
