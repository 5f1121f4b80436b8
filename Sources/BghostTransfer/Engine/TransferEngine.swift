// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostLinux
package import BghostTransferRules

/// Runs transfers independently of the clients that requested them.
///
/// The engine owns a transfer from the first byte: if the client goes away, the transfer continues;
/// if the process is killed, the next one continues from the disk and the journal. The engine
/// reports only final results.
///
/// It is an actor, since the effects of an event must be executed before the next event is
/// handled.
package actor TransferEngine {
    /// A transfer that has not ended.
    struct Live {
        var record: TransferRecord
        var machine: TransferMachine
        /// The token of its timers.
        let token: UInt64
        /// The server of the first request.
        let server: String
        var armed: UInt64?
        /// The moment of the timer for its earliest start.
        var armedDate: UInt64?
        /// The task of the last attempt, which may still be finishing.
        var task: Task<Void, Never>?
        var meter: TransferMeter?
        /// Decides between the end of that attempt and its abandonment.
        var placing: PlacingGate?
        /// The number of the current attempt, the only one whose reports count.
        var running: Int?
        /// Bytes that were present when that attempt started.
        var heldAtBegin: Int64 = 0
        /// Whether the journal may hold the progress of a version of the file.
        var hasVersion: Bool
        var waiters: [UInt64: CheckedContinuation<TransferRecord?, Never>] = [:]
        /// Callers of `take`, which afterwards confirm or give back the end.
        var takers: [UInt64: CheckedContinuation<TransferRecord?, Never>] = [:]
    }

    /// The resources that a plugin's transfers use.
    struct Holding {
        /// Its live and ended transfers, with the bytes that each counts.
        private(set) var charges: [RunID: Int] = [:]
        /// The sum of these.
        private(set) var bytes = 0

        mutating func charge(_ id: RunID, _ count: Int) {
            bytes += count - (charges.updateValue(count, forKey: id) ?? 0)
        }

        /// - Returns: whether it was counted.
        mutating func remove(_ id: RunID) -> Bool {
            guard let count = charges.removeValue(forKey: id) else { return false }
            bytes -= count
            return true
        }
    }

    /// An attempt that waits for a connection slot of another server.
    struct Mover {
        let id: RunID
        let attempt: Int
        let server: String
        let continuation: CheckedContinuation<Bool, Never>
    }

    let limits: TransferLimits
    let journal: any TransferJournal
    let clock: any TransferClock
    let route: Route
    let access: @Sendable (_ plugin: String) -> TransferAccess?
    let requirements: @Sendable (TransferRequest) -> Bool
    let random: @Sendable (UInt64) -> UInt64
    let boot: String
    weak let observer: (any TransferObserver)?
    let spans: (any SpanRecorder)?

    var live: [RunID: Live] = [:]
    var ended: [RunID: TransferRecord] = [:]
    /// Ended while a caller was attached; the caller has not called `end(of:)` yet.
    var taken: [RunID: TransferRecord] = [:]
    /// Ended and handed to a taker that has not yet confirmed.
    var handedOut: Set<RunID> = []
    /// The transfers of `handedOut` that a run has claimed for its session.
    var claimed: Set<RunID> = []
    /// What is still being cleaned up.
    var cleanups: [RunID: Task<Void, Never>] = [:]
    /// The resources that each plugin uses, which `TransferLimits` bounds.
    var holdings: [String: Holding] = [:]
    var sessions = SessionIndex()
    var slots: SlotTable
    /// What became of transfers; read on any thread.
    package nonisolated let counter = TransferCounter()
    var movers: [Mover] = []
    var timers = TimerHeap()
    var byToken: [UInt64: RunID] = [:]
    var tokens: UInt64 = 0
    var wakeAt: UInt64?
    var wakeTask: Task<Void, Never>?
    let progressTable = ProgressTable()
    var unsaved: Set<RunID> = []
    var savedAt: UInt64 = 0
    var isFlushArmed = false
    var clockSteps = ClockSteps()
    /// When the next sweep for expired ends is due.
    var sweepAt: UInt64?
    var isShutDown = false

    /// Creates an engine that does nothing yet: call `recover()` once before any other method.
    ///
    /// - Parameters:
    ///   - access: the files and hosts that a plugin's transfers may use now; `nil` if there is no
    ///     such plugin. Called on any thread; must not block.
    ///   - requirements: whether the requirements of a transfer are met; called likewise.
    ///   - spans: gets the span of each attempt of a transfer with a trace; `nil` records none.
    ///   - random: a random number below its argument.
    package init(
        limits: TransferLimits = TransferLimits(),
        journal: any TransferJournal,
        names: NameLookup = .system,
        network: NetworkSettings = .system,
        clock: any TransferClock = SystemTransferClock(),
        observer: (any TransferObserver)? = nil,
        spans: (any SpanRecorder)? = nil,
        requirements: @escaping @Sendable (TransferRequest) -> Bool = { _ in true },
        random: @escaping @Sendable (UInt64) -> UInt64 = { UInt64.random(in: 0..<$0) },
        access: @escaping @Sendable (_ plugin: String) -> TransferAccess?
    ) {
        self.limits = limits
        self.journal = journal
        self.clock = clock
        self.observer = observer
        self.spans = spans
        self.requirements = requirements
        self.random = random
        self.access = access
        let clients = ClientPool(
            settings: network,
            unpacks: true,
            connectionsMax: limits.perServerMax
        )
        let digests = DigestLedger(
            unsentBytesMax: limits.unsentDigestBytesMax,
            bytesPerSecond: limits.digestBytesPerSecond
        )
        route = Route(clients: clients, names: names, proxies: network.proxies, digests: digests)
        slots = SlotTable(totalMax: limits.totalMax, perServerMax: limits.perServerMax)
        journal.onHealthChange { [weak observer] error in
            if let error { observer?.journalFailed(error) } else { observer?.journalRecovered() }
        }
        let name = readFile("/proc/sys/kernel/random/boot_id", bytesMax: 64) ?? []
        boot = String(decoding: name.prefix { $0 > 0x20 }, as: UTF8.self)
    }

    /// Loads the journal: unfinished transfers continue, and the engine reports unacknowledged
    /// ends to the observer.
    package func recover() async throws {
        let records = try await onDisk { [journal] in try journal.recover() }
        // Steps count from here on.
        followClock()
        var keys: Set<SessionKey> = []
        for record in records {
            keys.insert(record.sessionKey)
            charge(record)
            guard record.status.state.isTerminal else {
                restore(record)
                continue
            }
            ended[record.request.id] = record
            sessions.recover(
                ended: record.request.id,
                in: record.sessionKey,
                isQuiet: record.isQuiet
            )
        }
        armSweep()
        // First continue all of them: a session has not ended as long as one of its transfers
        // continues.
        for record in records where live[record.request.id] != nil {
            resumeRestored(record.request.id)
        }
        for key in keys { reportIfComplete(key) }
    }

    private func restore(_ record: TransferRecord) {
        var record = record
        // The callers that waited ended with the process.
        record.status.isDetached = true
        let now = clock.now
        var retryAt: UInt64?
        switch (record.status.state, record.status.pause) {
        case (.paused, _): break
        // A server that asked for the pause gets it from this daemon too.
        case (.retrying, let pause?):
            retryAt = later(now, rest(until: pause.until, atMost: pause.length))
        default: record.status.state = .queued
        }
        let expiresAt = record.status.expiresAt ?? record.request.expiresAt
        record.status.expiresAt = expiresAt
        let timeout = Int64(clamping: record.request.resourceTimeout)
        let deadline = later(now, rest(until: expiresAt, atMost: timeout))
        enter(record, deadline: deadline, retryAt: retryAt)
    }

    /// The time until a moment of the wall clock, nanoseconds, which may have been set back while no daemon ran.
    private func rest(until moment: Int64, atMost length: Int64) -> UInt64 {
        UInt64(max(0, min(moment.subtractingClamped(clock.unixNow), length)))
    }

    private func resumeRestored(_ id: RunID) {
        guard let state = live[id]?.machine.state else { return }
        handle(id, state == .queued ? .stored : .deadline(bytes: 0, lastMove: 0))
    }

    /// Counts what a transfer uses now; it replaces what was counted for it.
    func charge(_ record: TransferRecord) {
        // In place: a copy would include all ids.
        holdings[record.request.plugin, default: Holding()]
            .charge(record.request.id, record.memoryBytes)
    }

    func removeHolding(_ request: TransferRequest) {
        guard holdings[request.plugin]?.remove(request.id) == true,
            holdings[request.plugin]?.charges.isEmpty == true
        else { return }
        holdings[request.plugin] = nil
    }

    /// The bytes that a plugin's transfers may use in addition to what they use, negative beyond the limit.
    func room(_ plugin: String) -> Int {
        limits.perPluginBytesMax - (holdings[plugin]?.bytes ?? 0)
    }

    /// Whether what a server made a transfer keep fits beside the plugin's other transfers.
    func hasRoom(for point: TransferPoint, of record: TransferRecord) -> Bool {
        let added =
            (point.uploadURL?.utf8.count ?? 0) - (record.point.uploadURL?.utf8.count ?? 0)
        return added <= max(0, room(record.request.plugin))
    }

    /// Adds a transfer to the table of unfinished ones.
    func enter(_ record: TransferRecord, deadline: UInt64, retryAt: UInt64? = nil) {
        tokens += 1
        let request = record.request
        byToken[tokens] = request.id
        live[request.id] = Live(
            record: record,
            machine: TransferMachine(
                status: record.status,
                idleTimeout: request.idleTimeout,
                deadline: deadline,
                retryAt: retryAt,
                isMet: isMet(request),
                policy: limits.policy
            ),
            token: tokens,
            // The URL was checked at creation; if it is invalid nevertheless, the attempt fails.
            server: (try? WebAddress(request.url).server) ?? "",
            hasVersion: record.point.validator != nil
        )
        sessions.begin(
            request.id,
            key: record.key,
            in: record.sessionKey,
            isQuiet: !request.notifiesSession
        )
        counter.began()
        armDate(tokens)
    }

    /// Ends all attempts and closes all connections.
    ///
    /// Unfinished transfers stay in the journal for the next engine; the journal is not closed.
    /// Callers that wait get `nil`.
    package func shutDown() async {
        guard !isShutDown else { return }
        followClock()
        isShutDown = true
        wakeTask?.cancel()
        let tasks = live.values.compactMap(\.task)
        for task in tasks { task.cancel() }
        for mover in movers { mover.continuation.resume(returning: false) }
        movers = []
        for task in tasks { await task.value }
        await finishCleanups()
        readProgress()
        flush()
        for id in live.keys { release(id, nil) }
        await route.clients.shutDown()
    }

    /// How many bytes the connections have read from the network, including discarded ones.
    nonisolated var receivedBytes: UInt64 { route.clients.received.count }

    /// The most bytes that one read from the network returns.
    static var pieceBytesMax: Int { TailKeeper.pieceBytesMax }

    /// Waits until the files of failed and cancelled downloads are removed.
    func finishCleanups() async {
        for cleanup in cleanups.values { await cleanup.value }
    }

    func later(_ time: UInt64, _ delay: UInt64) -> UInt64 {
        let (sum, overflow) = time.addingReportingOverflow(delay)
        return overflow ? .max : sum
    }
}

extension TransferRequest {
    /// The memory that a request uses besides its fixed size, bytes.
    var memoryBytes: Int {
        headers.reduce(body.count + continuation.count + url.utf8.count + file.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
    }

    /// When its time is over if the clock was not set since it was made, Unix nanoseconds.
    var expiresAt: Int64 { createdAt.addingClamped(Int64(clamping: resourceTimeout)) }
}

extension TransferRecord {
    /// The memory that a transfer uses besides its fixed size, bytes: also what servers made it keep.
    var memoryBytes: Int {
        request.memoryBytes + (point.uploadURL?.utf8.count ?? 0)
            + (status.answer?.memoryBytes ?? 0)
    }

    /// The session that the transfer belongs to.
    package var sessionKey: SessionKey {
        SessionKey(plugin: request.plugin, session: request.session)
    }
}
