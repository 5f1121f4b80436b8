// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// The scheduler: makes all scheduling decisions of the daemon.
///
/// It is a pure value. It reads no clock and no file, and it starts nothing: each method gets an event and
/// its time, and appends the effects to carry out. Its randomness comes from a seed. The same events at the
/// same times therefore lead to the same decisions, in a daemon and in a simulation, and a journal of events
/// can be replayed.
///
/// Each transition of a request is one transaction among the effects.
package struct Scheduler: Sendable {
    /// The settings; only a new manifest changes some of them.
    package struct Settings: Sendable {
        package var manifest: Manifest
        /// The manifest's path, for messages.
        var manifestPath: String
        /// The most concurrent runs.
        package var slots: Int
        /// A permanent id of this machine, which determines offsets.
        package var machineID: String
        /// The id of this boot of the machine, which determines schedules of boots.
        package var bootID: String
        /// The seed of its randomness.
        package var seed: UInt64

        package init(
            manifest: Manifest,
            manifestPath: String,
            slots: Int,
            machineID: String,
            bootID: String = "",
            seed: UInt64
        ) {
            self.manifest = manifest
            self.manifestPath = manifestPath
            self.slots = slots
            self.machineID = machineID
            self.bootID = bootID
            self.seed = seed
        }
    }

    /// The most bytes of a request's parameters.
    static let parametersBytesMax = 64 << 10

    /// Why nothing starts until the store has written its queue.
    struct StoreBlock: Sendable {
        let reason: String
        /// Unix nanoseconds.
        let since: Int64
    }

    package internal(set) var settings: Settings
    package internal(set) var catalog: TaskCatalog
    var pendingIndex: PendingRequestIndex
    var gates: RunGates
    var running = RunningTable()
    /// The requests of each entry that are being stored.
    var storing: [Int: UnstoredRequests] = [:]
    /// The number of appended requests of plugins that are being stored.
    var storingAppended = 0
    /// The entries whose request that is being stored was submitted by a plugin.
    var storingFromPlugins: Set<Int> = []
    /// The schedules by entry.
    var schedules: [Int: ActiveSchedule] = [:]
    /// The states of tasks by entry, where there is one.
    var memories = TaskMemories()
    /// The entries of the manifest's tasks that learn when their results are used, by plugin.
    var learners: [Int: Set<Int>] = [:]
    /// Until when idle identifiers are kept that the manifest does not name.
    var expiries = ExpiryTable()
    /// The members of families that were used last.
    var recentMembers = RecentMembers()
    /// Requests for tasks that are no longer in the manifest.
    var parking = Parking()
    /// The fencing token of the newest run.
    var epoch: UInt64 = 0
    var ids = RunIDSource()
    package var random: SplitMix64
    package private(set) var isDraining = false
    /// Unix nanoseconds.
    private(set) var drainingSince: Int64?
    var clockSteps = ClockSteps()
    /// When this scheduler started, Unix nanoseconds.
    private(set) var startedAt: Int64?
    /// `nil` if runs may start.
    var storeBlock: StoreBlock?
    /// The number of identifiers whose task reloads have searched: their work, which tests count.
    var identifierSearches = 0
    /// The number of runs with which renewals of the lease in a fleet have compared claims; tests count it.
    var claimComparisons = 0
    /// The recorded events, if recording is enabled.
    var inputs: [SchedulerInput.Entry]?

    package init(_ settings: Settings) {
        self.settings = settings
        catalog = TaskCatalog(settings.manifest)
        pendingIndex = PendingRequestIndex(slots: settings.slots)
        gates = RunGates(catalog)
        random = SplitMix64(seed: settings.seed)
    }

    /// Starts the schedules of the manifest, including starts that were missed meanwhile.
    ///
    /// Call it once, after the state of an earlier scheduler was restored.
    package mutating func start(now: Moment, _ effects: inout [SchedulerEffect]) {
        recordInput(.start, at: now)
        startedAt = now.unix
        // No interval is active yet, so this call only records the offset from which later steps are
        // computed.
        _ = followClock(now: now, &effects)
        endPauses(now: now, &effects)
        updateParkedState(now: now, &effects)
        startSchedules(now: now, &effects)
        startReadyRequests(now: now, &effects)
    }

    /// Accepts no more submissions and starts no more runs.
    package mutating func drain(now: Moment) {
        recordInput(.drain, at: now)
        isDraining = true
        drainingSince = now.unix
    }

    /// When to call `timerFired` next, Unix nanoseconds; `nil` if nothing waits for a date.
    package var nextDate: Int64? {
        var next = pendingIndex.nextDue
        if let end = parking.nextEnd { next = min(next ?? .max, end) }
        if let end = gates.budgets.nextEnd { next = min(next ?? .max, end) }
        if let end = gates.pauses.nextEnd { next = min(next ?? .max, end) }
        if let end = expiries.next { next = min(next ?? .max, end) }
        return next
    }

    /// The number of runs in progress.
    var runsUnderWay: Int { running.count }

    /// Creates the id of a request or a run.
    mutating func nextID(_ now: Moment) -> RunID {
        var random = random
        defer { self.random = random }
        return ids.next(unixMilliseconds: UInt64(max(0, now.unix)) / 1_000_000) { random.next() }
    }

    mutating func entry(for identifier: String, task: Int) -> Int {
        if let known = pendingIndex.entry(of: identifier) { return known }
        let quota = quotaIndex(of: task)
        let plugin = catalog.pluginOfTask[task]
        let overlap = catalog.tasks[task].overlap
        let isFamily = catalog.tasks[task].identifier.isFamily
        if isFamily { recentMembers.add(identifier) }
        let entry = pendingIndex.entry(
            for: identifier,
            definition: task,
            group: plugin,
            handlerQueue: catalog.handlerOfTask[task],
            quota: quota,
            overlap: overlap,
            isNamed: !isFamily
        )
        if catalog.tasks[task].learnsUse { learners[plugin, default: []].insert(entry) }
        return entry
    }

    // MARK: Events of time

    /// Handles dates that may have come.
    package mutating func timerFired(now: Moment, _ effects: inout [SchedulerEffect]) {
        recordInput(.timerFired, at: now)
        // The clock was set without an event for it.
        if followClock(now: now, &effects) { return recheckAllDates(now: now, &effects) }
        pendingIndex.becomeDue(now: now.unix)
        endParked(now: now, &effects)
        endPauses(now: now, &effects)
        refillBudgets(gates.budgets.refill(now: now.unix), now: now)
        forgetExpired(now: now, &effects)
        startReadyRequests(now: now, &effects)
    }

    /// Handles a clock that was set: checks every date again.
    package mutating func clockWasSet(now: Moment, _ effects: inout [SchedulerEffect]) {
        recordInput(.clockWasSet, at: now)
        recheckAllDates(now: now, &effects)
    }

    mutating func recheckAllDates(now: Moment, _ effects: inout [SchedulerEffect]) {
        let waiting = Set(schedules.keys.filter { pendingIndex.hasFallenDue($0) })
        // All dates are checked below, whether the clock was set or not.
        _ = followClock(now: now, &effects)
        parking.clockWasSet(now: now.unix)
        refillBudgets(gates.budgets.clockWasSet(now: now.unix), now: now)
        for (entry, memory) in memories.all.sorted(by: { $0.key < $1.key }) {
            delayThrottled(entry, memory, now: now)
        }
        for entry in schedules.keys.sorted() {
            followClockBack(entry: entry, now: now, &effects)
            guard ownPending(entry) != nil else { continue }
            submitNext(
                entry: entry,
                hasWaited: waiting.contains(entry),
                now: now,
                &effects
            )
        }
        // Among several requests of a task, another one may be the first now.
        for entry in pendingIndex.entries.indices
        where pendingIndex.entries.hasRetries(entry) || pendingIndex.entries.hasAppended(entry) {
            pendingIndex.recheck(entry: entry, now: now.unix)
        }
        // A date that was computed while the clock was ahead would keep identifiers for too long.
        for entry in expiries.entries { pendingIndex.noteIfIdle(entry) }
        forgetExpired(now: now, &effects)
        pendingIndex.becomeDue(now: now.unix)
        endParked(now: now, &effects)
        endPauses(now: now, &effects)
        startReadyRequests(now: now, &effects)
    }
}
