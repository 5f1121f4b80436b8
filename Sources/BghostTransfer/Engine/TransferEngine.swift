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
        /// Its live and ended transfers.
        var ids: Set<RunID> = []
        var bytes = 0
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
            addHolding(record.request)
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
        if record.status.state != .paused { record.status.state = .queued }
        let age = clock.unixNow.subtractingReportingOverflow(record.request.createdAt)
        // If the clock was set back, the age is negative; count it as 0.
        let spent = age.overflow ? 0 : UInt64(max(0, age.partialValue))
        let timeout = record.request.resourceTimeout
        enter(record, deadline: later(clock.now, timeout > spent ? timeout - spent : 0))
    }

    private func resumeRestored(_ id: RunID) {
        guard let state = live[id]?.machine.state else { return }
        handle(id, state == .paused ? .deadline(bytes: 0, lastMove: 0) : .stored)
    }

    func addHolding(_ request: TransferRequest) {
        // In place: a copy would include all ids.
        holdings[request.plugin, default: Holding()].ids.insert(request.id)
        holdings[request.plugin]?.bytes += request.memoryBytes
    }

    func removeHolding(_ request: TransferRequest) {
        guard holdings[request.plugin]?.ids.remove(request.id) != nil else { return }
        holdings[request.plugin]?.bytes -= request.memoryBytes
        if holdings[request.plugin]?.ids.isEmpty == true { holdings[request.plugin] = nil }
    }

    /// Adds a transfer to the table of unfinished ones.
    func enter(_ record: TransferRecord, deadline: UInt64) {
        tokens += 1
        let request = record.request
        byToken[tokens] = request.id
        live[request.id] = Live(
            record: record,
            machine: TransferMachine(
                status: record.status,
                idleTimeout: request.idleTimeout,
                deadline: deadline,
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
}

extension TransferRecord {
    /// The session that the transfer belongs to.
    package var sessionKey: SessionKey {
        SessionKey(plugin: request.plugin, session: request.session)
    }
}
