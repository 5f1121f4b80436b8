// SPDX-License-Identifier: Apache-2.0

package import BghostAudit
package import BghostBase
package import BghostModel
internal import BghostNotify
package import BghostPolicy
internal import Synchronization

/// A store that lasts as long as its process: for tests, and for a daemon that stores nothing.
///
/// It keeps the last `historyMax` runs.
package final class MemoryStore: Store {
    private struct Lease {
        let request: Request
        let run: RunRecord
    }

    private struct State {
        var pending: [RunID: Request] = [:]
        /// The leases by request.
        var leases: [RunID: Lease] = [:]
        var dead: [RunID: DeadLetter] = [:]
        var tasks: [String: TaskMemory] = [:]
        var disabledPlugins: [String: String] = [:]
        var quarantines: [String: Quarantine] = [:]
        var pauses: [PauseTarget: Pause] = [:]
        var runtime: [RuntimeUse] = []
        var alerts: [AlertKey: AlertRow] = [:]
        var manifest: String?
        var progress: [String: TaskProgress] = [:]
        /// The key is the plugin and the id, separated by a NUL, which neither contains.
        var notifications: [String: NotificationRow] = [:]
        var checkpoints: [RunID: Checkpoint] = [:]
        var isClosed = false
        /// A ring buffer: once it is full, the oldest record is overwritten.
        var history: [RunRecord] = []
        var head = 0
        var skipped: [SkippedStart] = []
        /// The number of older ones that were removed.
        var skippedBefore = 0
        var audit = MemoryAudit()
        var days = MemoryRunDays()
        /// All runs that have ended.
        var ended: Int64 = 0
        var last: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let historyMax: Int

    package init(historyMax: Int = 1000) {
        self.historyMax = max(1, historyMax)
    }

    package func commit(
        _ changes: [StoreChange],
        isAwaited: Bool,
        onFailure: CommitFailurePolicy,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        let isKept = state.withLock { state in
            guard !state.isClosed else { return false }
            for change in changes { apply(change, &state) }
            return true
        }
        completion(isKept ? .success(()) : .failure(StoreError("the store is closed")))
    }

    /// This store always has room.
    package var health: StoreHealth { StoreHealth() }
    package func onHealthChange(_ body: @escaping @Sendable () -> Void) {}
    /// This store keeps a fixed number of runs.
    package func keep(history policy: HistoryPolicy) {}
    package func retryNow() {}
    package func answer(_ body: @escaping @Sendable () -> Void) { body() }
    package func flush(until deadline: MonotonicInstant) -> Int { 0 }
    package func abortFlush() {}

    private func apply(_ change: StoreChange, _ state: inout State) {
        if let id = change.endsCheckpoint { state.checkpoints[id] = nil }
        switch change {
        case .accepted(let request, let replaced):
            if let replaced { state.pending[replaced] = nil }
            state.pending[request.id] = request
        case .closed(let id, _): state.pending[id] = nil
        case .runStarted(let record):
            guard let request = state.pending.removeValue(forKey: record.request) else { return }
            state.leases[request.id] = Lease(request: request, run: record)
        case .runEnded(let record, let next):
            guard let lease = state.leases[record.request], lease.run.id == record.id,
                lease.run.epoch == record.epoch
            else { return }
            state.leases[record.request] = nil
            append(record, to: &state)
            switch next {
            case .consumed: break
            case .again(let request): state.pending[request.id] = request
            case .dead(let request, let reason):
                state.dead[request.id] = DeadLetter(
                    request: request,
                    reason: reason,
                    run: record.id,
                    diedAt: record.endedAt ?? 0
                )
            }
        case .redriven(let request):
            guard state.dead.removeValue(forKey: request.id) != nil else { return }
            state.pending[request.id] = request
        case .moved(let request):
            if state.pending[request.id] != nil { state.pending[request.id] = request }
        case .discarded(let id): state.dead[id] = nil
        case .checkpointSaved(let checkpoint):
            let about = checkpoint.about
            guard let run = state.leases[about.request]?.run, run.id == about.run,
                run.epoch == about.epoch
            else { return }
            state.checkpoints[about.request] = checkpoint
        case .checkpointDeleted: break
        case .remembered(let memory):
            state.tasks[memory.identifier] = memory.isEmpty ? nil : memory
        case .runtimeConsumed(let use):
            state.runtime.removeAll {
                $0.minute < use.minute.subtractingClamped(RuntimeUse.minutesKept)
                    || $0.minute > use.minute
                    || ($0.minute, $0.plugin, $0.kind) == (use.minute, use.plugin, use.kind)
            }
            state.runtime.append(use)
        case .notification(.kept(let row)):
            state.notifications[row.plugin + "\0" + row.content.id] = row
        case .notification(.removed(let plugin, let id)):
            state.notifications[plugin + "\0" + id] = nil
        case .switched(let plugin, let off): state.disabledPlugins[plugin] = off
        case .quarantined(let plugin, let quarantine): state.quarantines[plugin] = quarantine
        case .paused(let target, let pause): state.pauses[target] = pause
        case .audited(let entry): state.audit.write(entry)
        case .manifest(let text): state.manifest = text
        case .alert(.kept(let row)): state.alerts[row.key] = row
        case .alert(.removed(let key)): state.alerts[key] = nil
        case .alert(.progress(let progress)): state.progress[progress.task] = progress
        case .alert(.unwatched(let task)): state.progress[task] = nil
        case .startSkipped(let start):
            state.skipped.append(start)
            guard state.skipped.count > 2 * historyMax else { break }
            state.skipped.removeFirst(historyMax)
            state.skippedBefore += historyMax
        }
    }

    private func append(_ record: RunRecord, to state: inout State) {
        state.ended += 1
        state.days.add(record)
        let index: Int
        if state.history.count < historyMax {
            index = state.history.count
            state.history.append(record)
        } else {
            index = state.head
            let forgotten = state.history[index].task
            if state.last[forgotten] == index { state.last[forgotten] = nil }
            state.history[index] = record
            state.head = (index + 1) % historyMax
        }
        state.last[record.task] = index
    }

    package func recover(
        expecting expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(StoreError) -> RecoveredState {
        let pending = state.withLock { $0.pending }
        expect(pending.count)
        for id in pending.keys.sorted() { if let request = pending[id] { each(request) } }
        return state.withLock { state in
            RecoveredState(
                incarnation: 1,
                interrupted: state.leases.values.sorted { $0.run.id < $1.run.id }
                    .map { ($0.request, $0.run) },
                tasks: Array(state.tasks.values),
                dead: state.dead.values
                    .map { (request: $0.request.id, task: $0.request.task, diedAt: $0.diedAt) }
                    .sorted { ($0.diedAt, $0.request) < ($1.diedAt, $1.request) },
                disabledPlugins: state.disabledPlugins,
                quarantines: state.quarantines.values.sorted { $0.plugin < $1.plugin },
                pauses: state.pauses.values.sorted {
                    ($0.since, $0.target.name) < ($1.since, $1.target.name)
                },
                runtime: state.runtime.sorted { $0.minute < $1.minute },
                notifications: state.notifications.values.sorted { $0.key < $1.key },
                alerts: state.alerts.values.sorted {
                    ($0.since, $0.key.rule.rawValue, $0.key.subject)
                        < ($1.since, $1.key.rule.rawValue, $1.key.subject)
                },
                progress: state.progress.values.sorted { $0.task < $1.task },
                checkpoints: state.checkpoints.values.map(\.about),
                manifest: state.manifest
            )
        }
    }

    package func runs(task: String?, limit: Int) -> [RunRecord] {
        newest(limit) { task == nil || $0.task == task }
    }

    package func runs(_ query: RunQuery) -> RunPage {
        state.withLock { state in
            var page = RunPage(newest: state.ended)
            let count = state.history.count
            for offset in 0..<count {
                let number = state.ended - Int64(offset)
                guard number > query.after ?? .min else { break }
                let record = state.history[(state.head + count - 1 - offset) % count]
                guard number < query.before ?? .max, query.filter.matches(record, now: .max) else {
                    continue
                }
                guard page.entries.count < query.limit else {
                    page.next = page.entries.last?.number
                    break
                }
                page.entries.append(.init(record, number: number))
            }
            return page
        }
    }

    package func skippedStarts(_ query: SkippedStartQuery) -> SkippedStartPage {
        let rows = state.withLock { state in
            state.skipped.enumerated().map {
                (start: $1, number: Int64(state.skippedBefore + $0))
            }
        }
        let wanted = rows.filter { row in
            query.isAfter(due: row.start.due, number: row.number) && query.matches(row.start)
        }
        return SkippedStartPage(wanted, end: nil, limit: query.limit)
    }

    package func runDays(_ query: RunDayQuery) -> RunDayPage {
        state.withLock { $0.days.page(query) }
    }

    package func audit(_ query: AuditQuery) -> AuditPage { state.withLock { $0.audit.page(query) } }

    package func auditHead() -> AuditHead? { state.withLock { $0.audit.head } }

    package func advance(_ check: AuditCheck) -> AuditCheck? {
        state.withLock { $0.audit.advance(check) }
    }

    package func runs(task: String, endedFrom date: Int64, limit: Int) -> [RunRecord] {
        let found = newest(.max) { $0.task == task && $0.endedAt ?? .max >= date }
        return Array(found.reversed().prefix(limit))
    }

    package func oldestEnd() -> Int64? { newest(.max) { _ in true }.last?.endedAt }

    package func runs(idPrefix: String, limit: Int) -> [RunRecord] {
        let prefix = idPrefix.uppercased()
        return newest(limit) { $0.id.description.hasPrefix(prefix) }
    }

    package func run(ofRequest id: RunID) -> RunRecord? {
        newest(1) { $0.request == id }.first
    }

    package func output(ofRun id: RunID) -> String {
        newest(1) { $0.id == id }.first?.details?.output ?? ""
    }

    package func checkpoint(ofRequest id: RunID) -> StoredCheckpoint {
        state.withLock { $0.checkpoints[id] }.map(StoredCheckpoint.found) ?? .none
    }

    package func checkpoints(idPrefix: String, limit: Int) -> [CheckpointSummary] {
        let prefix = idPrefix.uppercased()
        let found = state.withLock { state in
            state.checkpoints.values.map(\.about).filter {
                $0.request.description.hasPrefix(prefix)
            }
        }
        return Array(found.sorted { $0.request < $1.request }.prefix(max(0, limit)))
    }

    package func checkpoints(_ query: CheckpointQuery) -> CheckpointPage {
        let found = state.withLock { state in
            state.checkpoints.values.map(\.about).filter {
                $0.request < query.start && query.matches($0)
            }
        }
        let page = Array(found.sorted { $0.request > $1.request }.prefix(max(0, query.limit)))
        return CheckpointPage(
            checkpoints: page,
            next: page.count < found.count ? page.last?.request : nil
        )
    }

    package func lastRun(task: String) -> RunRecord? {
        state.withLock { state in
            state.last[task].map { state.history[$0] }
        }
    }

    package func lastRuns(tasks: [String]) -> [String: RunRecord] {
        state.withLock { state in
            tasks.reduce(into: [:]) { last, task in
                last[task] = state.last[task].map { state.history[$0] }
            }
        }
    }

    package func deadLetters(task: String?, limit: Int) -> [DeadLetter] {
        state.withLock { state in
            let wanted = state.dead.values.filter { task == nil || $0.request.task == task }
            let newest = wanted.sorted { ($0.diedAt, $0.run) > ($1.diedAt, $1.run) }
            return Array(newest.prefix(max(0, limit)))
        }
    }

    package func deadLetters(_ query: DeadLetterQuery) -> DeadLetterPage {
        var page = DeadLetterPage()
        page.insert(state.withLock { $0.dead.values.filter(query.matches) }, limit: query.limit)
        return page
    }

    package func backup(to path: String) throws(StoreError) {
        throw StoreError("this daemon keeps its state in memory only; there is nothing to back up")
    }

    package func close() {
        state.withLock { $0.isClosed = true }
    }

    private func newest(_ limit: Int, _ isWanted: (RunRecord) -> Bool) -> [RunRecord] {
        state.withLock { state in
            var found: [RunRecord] = []
            let count = state.history.count
            var offset = 1
            while offset <= count, found.count < limit {
                let record = state.history[(state.head + count - offset) % count]
                if isWanted(record) { found.append(record) }
                offset += 1
            }
            return found
        }
    }
}
