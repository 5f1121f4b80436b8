// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostNotify
internal import BghostPolicy
internal import Glibc

/// Writes changes into the tables, in one transaction for each call of `transaction`.
final class ChangeWriter {
    let statements: WriterStatements
    var sizes: TableSizes
    /// Leases of this transaction by request; a run that also ends in it needs no written lease.
    private(set) var fresh: [RunID: RunRecord] = [:]
    let checkpoints: CheckpointStatements
    /// Whether the table of checkpoints may have rows.
    var hasCheckpoints: Bool
    private let trimmer: HistoryTrimmer
    private let origins: OriginWriter
    private let audit: AuditWriter
    private let days: RunDayWriter
    private var ages: AgeClock
    let damaged: DamagedRows

    init(
        _ connection: Connection,
        _ damaged: DamagedRows,
        retention: SQLiteStore.Retention
    ) throws(SQLiteFailure) {
        self.damaged = damaged
        trimmer = try HistoryTrimmer(connection, retention)
        statements = try WriterStatements(connection)
        origins = OriginWriter(statements, damaged)
        checkpoints = try CheckpointStatements(connection)
        let found = try connection.number("SELECT EXISTS (SELECT 1 FROM checkpoint)")
        hasCheckpoints = found != 0
        audit = try AuditWriter(connection, retention.policy.audit, chunk: retention.chunk)
        days = try RunDayWriter(connection, daysKept: retention.policy.host.rollups, damaged)
        ages = try AgeClock(connection)
        sizes = try TableSizes(reading: connection)
    }

    /// Writes the changes in one transaction.
    ///
    /// - Returns: the number of the last change.
    func transaction(_ lists: some Sequence<[StoreChange]>) throws(SQLiteFailure) -> Int64 {
        let before = (sizes, audit.state)
        fresh.removeAll(keepingCapacity: true)
        days.begin()
        do throws(SQLiteFailure) {
            try statements.transaction.run { () throws(SQLiteFailure) in
                let now = Self.now()
                for changes in lists {
                    for change in changes { try write(change, now) }
                }
                try writeJournal(after: before.0.journal.last, now)
                for record in fresh.values {
                    let source = try origins.row(of: record)
                    try statements.lease.run { RunColumns.bind(record, source: source, to: &$0) }
                }
                try days.write()
                try trimJournal()
            }
            return sizes.journal.last
        } catch {
            (sizes, audit.state) = before
            origins.forget()
            days.forget()
            throw error
        }
    }

    private func write(_ change: StoreChange, _ now: Int64) throws(SQLiteFailure) {
        switch change {
        case .accepted(let request, let replaced): try accept(request, replaced)
        case .closed(let id, _):
            guard try removePending(id) else { return }
            try removeCheckpoint(of: id)
            countChange()
        case .runStarted(let record): try begin(record)
        case .runEnded(let record, let next): try end(record, next, now)
        case .redriven(let request):
            guard try removeDead(request.id) else { return }
            try insert(request, nil)
            countChange()
        case .discarded(let id):
            guard try removeDead(id) else { return }
            try removeCheckpoint(of: id)
            countChange()
        case .moved(let request): try move(request)
        case .checkpointSaved(let checkpoint): try keep(checkpoint)
        case .checkpointDeleted(let id):
            try removeCheckpoint(of: id)
            countChange()
        case .remembered(let memory): try remember(memory)
        case .runtimeConsumed(let use): try keep(use)
        case .notification(let change): try keep(change)
        case .switched(let plugin, let off): try `switch`(plugin, off)
        case .quarantined(let plugin, let quarantine): try keep(plugin, quarantine)
        case .paused(let target, let pause): try keep(target, pause)
        case .startSkipped(let start): try keep(start, now)
        case .alert(let change): try keep(change)
        case .manifest(let text): try keep(manifest: text)
        case .audited(let entry):
            try audit.write(entry)
            countChange()
        }
    }

    // MARK: Requests

    private func accept(_ request: Request, _ replaced: RunID?) throws(SQLiteFailure) {
        if let replaced, try removePending(replaced) {
            try removeCheckpoint(of: replaced)
            countChange()
        }
        do throws(SQLiteFailure) {
            try insert(request, nil)
        } catch {
            // The request was accepted before: replace it, unless it is leased or dead.
            guard error.isConstraint, try removePending(request.id) else {
                throw error
            }
            try insert(request, nil)
        }
        countChange()
    }

    func insert(_ request: Request, _ letter: DeadLetter?) throws(SQLiteFailure) {
        try statements.insertRequest.run { row in
            RequestColumns.bind(request, to: &row)
            if let letter {
                RequestColumns.bindDead(letter, to: &row)
            } else {
                RequestColumns.bindAlive(to: &row)
            }
        }
        sizes.places.add(letter == nil ? PlaceSum.pending(request.id) : PlaceSum.dead(request.id))
    }

    func removePending(_ id: RunID) throws(SQLiteFailure) -> Bool {
        guard fresh[id] == nil, try statements.removePending.run({ $0.add(id) }) == 1 else {
            return false
        }
        sizes.places.remove(PlaceSum.pending(id))
        return true
    }

    private func removeDead(_ id: RunID) throws(SQLiteFailure) -> Bool {
        guard try statements.removeDead.run({ $0.add(id) }) == 1 else { return false }
        sizes.places.remove(PlaceSum.dead(id))
        return true
    }

    // MARK: Runs

    private func begin(_ record: RunRecord) throws(SQLiteFailure) {
        guard try mayLease(record.request) else {
            return countChange()
        }
        fresh[record.request] = record
        sizes.places.remove(PlaceSum.pending(record.request))
        sizes.places.add(place(of: record))
        countChange()
    }

    private func mayLease(_ request: RunID) throws(SQLiteFailure) -> Bool {
        guard fresh[request] == nil else { return false }
        var isPending = false
        try statements.mayLease.rows({ $0.add(request) }) { _ in
            isPending = true
            return false
        }
        return isPending
    }

    /// Removes the lease of a run.
    ///
    /// - Returns: `false` if the request has no lease, or if another run holds it.
    private func release(_ record: RunRecord) throws(SQLiteFailure) -> Bool {
        if let run = fresh[record.request] {
            guard run.id == record.id, run.epoch == record.epoch else { return false }
            fresh[record.request] = nil
            return true
        }
        return try statements.release.run {
            $0.add(record.request)
            $0.add(record.id)
            $0.add(record.epoch)
        } == 1
    }

    private func end(
        _ record: RunRecord,
        _ next: AfterRun,
        _ now: Int64
    ) throws(SQLiteFailure) {
        guard try release(record) else {
            return countChange()
        }
        guard try statements.removeRequest.run({ $0.add(record.request) }) == 1 else {
            throw .damaged("a leased request is missing")
        }
        sizes.places.remove(place(of: record))
        try append(record, now)
        switch next {
        case .consumed: try removeCheckpoint(of: record.request)
        case .again(let request): try insert(request, nil)
        case .dead(let request, let reason):
            let letter = DeadLetter(
                request: request,
                reason: reason,
                run: record.id,
                diedAt: record.endedAt ?? 0
            )
            try insert(request, letter)
        }
        countChange()
    }

    private func place(of record: RunRecord) -> UInt64 {
        PlaceSum.leased(record.request, run: record.id, epoch: record.epoch)
    }

    private func append(_ record: RunRecord, _ now: Int64) throws(SQLiteFailure) {
        let texts = record.task.utf8.count + record.plugin.utf8.count
        let bytes =
            TableSizes.runOverhead + texts + record.message.utf8.count + record.result.utf8.count
        let place = sizes.runs.append(bytes: bytes)
        let source = try origins.row(of: record)
        let output = try keepOutput(of: record, now)
        try statements.insertRun.run { row in
            row.add(place.seq)
            row.add(now)
            row.add(place.size)
            row.restartSum()
            RunColumns.bind(record, source: source, output: output, to: &row)
        }
        days.add(record, now)
        trimmer.added(task: record.task)
    }

    // MARK: Tasks and plugins

    /// Not counted: it comes with the end of a run, which is.
    private func keep(_ use: RuntimeUse) throws(SQLiteFailure) {
        try statements.keepRuntime.run { row in
            row.add(use.minute)
            row.add(use.plugin)
            row.add(use.kind.rawValue)
            row.add(use.nanoseconds)
            row.addSum()
        }
        try statements.trimRuntime.run { row in
            row.add(use.minute.subtractingClamped(RuntimeUse.minutesKept))
            // Also delete rows with a later minute, which a clock that ran ahead has written.
            row.add(use.minute)
        }
    }

    private func keep(_ change: NotificationChange) throws(SQLiteFailure) {
        switch change {
        case .kept(let row):
            try statements.keepNotification.run { NotificationColumns.bind(row, to: &$0) }
            countChange()
        case .removed(let plugin, let id):
            try statements.removeNotification.run { arguments in
                arguments.add(plugin)
                arguments.add(id)
            }
            countChange()
        }
    }

    private func `switch`(_ plugin: String, _ off: String?) throws(SQLiteFailure) {
        if let off {
            try statements.switchOff.run { row in
                row.add(plugin)
                row.add(off)
                row.addSum()
            }
        } else {
            try statements.switchOn.run { $0.add(plugin) }
        }
        countChange()
    }

    private func keep(_ plugin: String, _ quarantine: Quarantine?) throws(SQLiteFailure) {
        guard let quarantine else {
            try statements.liftQuarantine.run { $0.add(plugin) }
            return countChange()
        }
        try statements.quarantine.run { row in
            row.add(plugin)
            row.add(quarantine.library)
            row.add(quarantine.host)
            row.add(quarantine.since)
            row.add(quarantine.reason)
            row.addSum()
        }
        countChange()
    }

    // MARK: The journal

    func countChange() { sizes.countChange() }

    /// Writes what the tables hold after this transaction.
    ///
    /// - Parameter before: the number of the last change before it.
    private func writeJournal(after before: Int64, _ now: Int64) throws(SQLiteFailure) {
        guard sizes.journal.last != before else { return }
        sizes.journal.size &+= 60
        try statements.writeJournal.run { row in
            row.add(sizes.journal.last)
            row.add(sizes.journal.last &- before)
            row.add(now)
            row.add(sizes.journal.size)
            row.add(sizes.places.count)
            row.add(sizes.places.sum)
            // Earlier versions wrote a line about each change.
            row.add([UInt8]())
            row.addSum()
        }
    }

    // MARK: Retention

    /// Deletes the rows of the journal before the newest one, once for a number of transactions.
    private func trimJournal() throws(SQLiteFailure) {
        guard sizes.journal.untrimmed >= Self.journalChunk else { return }
        sizes.journal.untrimmed = 0
        let last = sizes.journal.last &- 1
        guard last >= sizes.journal.first else { return }
        try statements.trimJournal.run { $0.add(last) }
        sizes.journal.first = last &+ 1
    }

    private static let journalChunk = 64

    /// Sets how much history is kept.
    func keep(_ policy: HistoryPolicy) {
        trimmer.retention.policy = policy
        audit.settings = policy.audit
        days.daysKept = policy.host.rollups
    }

    /// Whether history may have to be deleted.
    var isTrimDue: Bool {
        trimmer.isDue(sizes) || audit.isTrimDue || days.isTrimDue || ages.isDue
    }

    /// Deletes a piece of the history, in a transaction of its own.
    func trim() throws(SQLiteFailure) {
        let before = (sizes, audit.state)
        let look = ages.look()
        do throws(SQLiteFailure) {
            try statements.transaction.run { () throws(SQLiteFailure) in
                try trimmer.trim(&sizes, look)
                if audit.isTrimDue || look.isRelease { try audit.trim(look) }
                if days.isTrimDue { try days.trim(now: look.now) }
            }
        } catch {
            (sizes, audit.state) = before
            trimmer.postpone(&sizes)
            audit.postponeTrim()
            days.postponeTrim()
            throw error
        }
    }
}
