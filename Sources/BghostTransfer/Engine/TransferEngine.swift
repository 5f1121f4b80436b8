// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux

/// Carries transfers through, whatever becomes of those who asked for them.
///
/// A transfer belongs to the engine from its first byte: whoever waits for it may go away, and it
/// goes on; the process may be killed, and the next one goes on with what is on the disk and in the
/// journal. Only what is final is told.
///
/// An actor, since what follows from an event must be done before the next event is taken.
package actor TransferEngine {
    /// A transfer that has not ended.
    struct Live {
        var record: TransferRecord
        var machine: TransferMachine
        /// Its name among the timers.
        let token: UInt64
        /// The server that is asked first.
        let server: String
        var armed: UInt64?
        /// The last attempt, which may still be ending.
        var task: Task<Void, Never>?
        var meter: TransferMeter?
        /// The attempt that is under way and may report.
        var running: Int?
        /// How much was there when that began.
        var heldAtBegin: Int64 = 0
        /// Whether a version may be written down for it.
        var hasVersion: Bool
        var waiters: [UInt64: CheckedContinuation<TransferRecord?, Never>] = [:]
        /// Those who say afterwards whether they have the end.
        var takers: [UInt64: CheckedContinuation<TransferRecord?, Never>] = [:]
    }

    /// What the transfers of a plugin take.
    struct Holding {
        var count = 0
        var bytes = 0
    }

    /// An attempt that waits for a connection to another server.
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

    var live: [RunID: Live] = [:]
    var ended: [RunID: TransferRecord] = [:]
    /// Ended while somebody waited, who has not asked yet how.
    var taken: [RunID: TransferRecord] = [:]
    /// Ended, and on its way to somebody who has not said yet that he has it.
    var handedOut: Set<RunID> = []
    /// What is still being cleaned up.
    var chores: [RunID: Task<Void, Never>] = [:]
    /// What each plugin has, as `TransferLimits` bounds it.
    var holdings: [String: Holding] = [:]
    var sessions = SessionBook()
    var slots: SlotTable
    var movers: [Mover] = []
    var timers = TimerHeap()
    var byToken: [UInt64: RunID] = [:]
    var tokens: UInt64 = 0
    var wakeAt: UInt64?
    var wakeTask: Task<Void, Never>?
    let board = ProgressBoard()
    var unsaved: Set<RunID> = []
    var savedAt: UInt64 = 0
    var isFlushArmed = false
    /// When ends that nobody has dealt with are looked for.
    var sweepAt: UInt64?
    var isShutDown = false

    /// An engine that does nothing yet: call `recover()` once before anything else.
    ///
    /// - Parameters:
    ///   - access: what a plugin's transfers may touch now; `nil` if there is no such plugin. Called
    ///     on any thread; must not block.
    ///   - requirements: whether what a transfer waits for is there; likewise.
    ///   - random: a number below its argument.
    package init(
        limits: TransferLimits = TransferLimits(),
        journal: any TransferJournal,
        names: NameLookup = .system,
        network: NetworkSettings = .system,
        clock: any TransferClock = SystemTransferClock(),
        observer: (any TransferObserver)? = nil,
        requirements: @escaping @Sendable (TransferRequest) -> Bool = { _ in true },
        random: @escaping @Sendable (UInt64) -> UInt64 = { UInt64.random(in: 0..<$0) },
        access: @escaping @Sendable (_ plugin: String) -> TransferAccess?
    ) {
        self.limits = limits
        self.journal = journal
        self.clock = clock
        self.observer = observer
        self.requirements = requirements
        self.random = random
        self.access = access
        let clients = ClientPool(
            settings: network,
            unpacks: true,
            connectionsMax: limits.perServerMax
        )
        route = Route(clients: clients, names: names, proxies: network.proxies)
        slots = SlotTable(totalMax: limits.totalMax, perServerMax: limits.perServerMax)
        let name = readFile("/proc/sys/kernel/random/boot_id", bytesMax: 64) ?? []
        boot = String(decoding: name.prefix { $0 > 0x20 }, as: UTF8.self)
    }

    /// Takes over what the journal holds: transfers go on, and ends that nobody has dealt with are
    /// told.
    package func recover() async throws {
        let records = try await onDisk { [journal] in try journal.recover() }
        var keys: Set<SessionKey> = []
        for record in records {
            keys.insert(record.sessionKey)
            hold(record.request)
            guard record.status.state.isTerminal else {
                takeOver(record)
                continue
            }
            ended[record.request.id] = record
            sessions.recover(
                ended: record.request.id,
                in: record.sessionKey,
                isQuiet: !record.request.tellsSession
            )
        }
        armSweep()
        // All of them first: a session has not ended as long as one of its transfers goes on.
        for record in records where live[record.request.id] != nil { goOn(record.request.id) }
        for key in keys { tell(key) }
    }

    private func takeOver(_ record: TransferRecord) {
        var record = record
        // Whoever waited went with the process.
        record.status.isDetached = true
        if record.status.state != .paused { record.status.state = .queued }
        let age = clock.unixNow.subtractingReportingOverflow(record.request.createdAt)
        // A clock that was set back makes nothing younger than it was when it began.
        let spent = age.overflow ? 0 : UInt64(max(0, age.partialValue))
        let timeout = record.request.resourceTimeout
        enter(record, deadline: later(clock.now, timeout > spent ? timeout - spent : 0))
    }

    private func goOn(_ id: RunID) {
        guard let state = live[id]?.machine.state else { return }
        handle(id, state == .paused ? .deadline(bytes: 0, lastMove: 0) : .stored)
    }

    func hold(_ request: TransferRequest) {
        var holding = holdings[request.plugin] ?? Holding()
        holding.count += 1
        holding.bytes += request.memoryBytes
        holdings[request.plugin] = holding
    }

    func letGo(_ request: TransferRequest) {
        guard var holding = holdings[request.plugin] else { return }
        holding.count -= 1
        holding.bytes -= request.memoryBytes
        holdings[request.plugin] = holding.count > 0 ? holding : nil
    }

    /// Puts a transfer among those under way.
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
            server: (try? WebAddress(request.url).server) ?? "",
            hasVersion: record.point.validator != nil
        )
        sessions.begin(
            request.id,
            key: record.key,
            in: record.sessionKey,
            isQuiet: !request.tellsSession
        )
        armDate(tokens)
    }

    /// Ends all attempts and lets go of the network.
    ///
    /// The journal keeps what is under way, for the next engine; it is not closed. Those who wait
    /// get `nil`.
    package func shutDown() async {
        guard !isShutDown else { return }
        isShutDown = true
        wakeTask?.cancel()
        let tasks = live.values.compactMap(\.task)
        for task in tasks { task.cancel() }
        for mover in movers { mover.continuation.resume(returning: false) }
        movers = []
        for task in tasks { await task.value }
        await settleFiles()
        readBoard()
        flush()
        for id in live.keys { release(id, nil) }
        await route.clients.shutDown()
    }

    /// Waits until what failed and cancelled downloads have left is removed.
    package func settleFiles() async {
        for chore in chores.values { await chore.value }
    }

    func later(_ time: UInt64, _ delay: UInt64) -> UInt64 {
        let (sum, overflow) = time.addingReportingOverflow(delay)
        return overflow ? .max : sum
    }
}

extension TransferRequest {
    /// What it takes of the memory besides what all take.
    var memoryBytes: Int {
        headers.reduce(body.count + continuation.count + url.utf8.count + file.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
    }
}

extension TransferRecord {
    /// The session that it belongs to.
    package var sessionKey: SessionKey {
        SessionKey(plugin: request.plugin, session: request.session)
    }
}
