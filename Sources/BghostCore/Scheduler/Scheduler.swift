// SPDX-License-Identifier: Apache-2.0

/// Which request runs, when, and what becomes of it: all decisions of the daemon in one value.
///
/// Pure. It knows no clock, reads no file and starts nothing: each method takes what has happened and
/// the moment of it, and appends what is to be done. Its chance comes from a seed. So the same events
/// at the same moments lead to the same decisions, whether a daemon brings them or a simulation, and
/// a journal of them can be replayed.
///
/// What it decides about requests is said in terms of the store: each transition is one transaction
/// among its effects.
package struct Scheduler: Sendable {
    /// What it is told once; only another manifest changes some of it.
    package struct Settings: Sendable {
        package var manifest: Manifest
        /// For messages.
        package var manifestPath: String
        /// How many runs may be under way at once.
        package var slots: Int
        /// A name of this machine that stays, which decides on offsets.
        package var machineID: String
        /// Where its chance comes from.
        package var seed: UInt64

        package init(
            manifest: Manifest,
            manifestPath: String,
            slots: Int,
            machineID: String,
            seed: UInt64
        ) {
            self.manifest = manifest
            self.manifestPath = manifestPath
            self.slots = slots
            self.machineID = machineID
            self.seed = seed
        }
    }

    /// A request's parameters may have this many bytes.
    package static let parametersBytesMax = 64 << 10

    package internal(set) var settings: Settings
    package internal(set) var catalog: TaskCatalog
    package internal(set) var book: RequestBook
    var gates: RunGates
    var running = RunningTable()
    /// The request of an entry that is on its way to the store.
    var arriving: [Int: RunID] = [:]
    /// Schedules by entry.
    var schedules: [Int: ActiveSchedule] = [:]
    /// What is remembered of entries, where there is something.
    var memories: [Int: TaskMemory] = [:]
    /// Requests whose task the manifest does not permit any more.
    var parking = Parking()
    /// The fencing token of the newest run.
    var epoch: UInt64 = 0
    var ids = RunIDSource()
    var random: SplitMix64
    package private(set) var isDraining = false
    /// Unix nanoseconds.
    private(set) var drainingSince: Int64?
    /// What has happened, if somebody wants to know.
    var inputs: [SchedulerInput.Entry]?

    package init(_ settings: Settings) {
        self.settings = settings
        catalog = TaskCatalog(settings.manifest)
        book = RequestBook(slots: settings.slots)
        gates = RunGates(catalog)
        random = SplitMix64(seed: settings.seed)
    }

    /// Takes up the schedules of the manifest, and what was missed while nobody looked.
    ///
    /// To be called once, after all that an earlier one left has been taken over.
    package mutating func start(now: Moment, _ effects: inout [SchedulerEffect]) {
        note(.start, at: now)
        settleParking(now: now, &effects)
        startSchedules(now: now, &effects)
        beginWhatCan(now: now, &effects)
    }

    /// Takes nothing more and begins nothing more.
    package mutating func drain(now: Moment) {
        note(.drain, at: now)
        isDraining = true
        drainingSince = now.unix
    }

    /// When `datesCame` is to be called next, Unix nanoseconds; `nil` if nothing waits for a date.
    package var nextDate: Int64? {
        var next = book.nextDue
        if let end = parking.nextEnd { next = min(next ?? .max, end) }
        if let end = gates.budgets.nextEnd { next = min(next ?? .max, end) }
        return next
    }

    /// How many runs are under way.
    package var runsUnderWay: Int { running.count }

    /// Makes the name of a request or a run.
    mutating func nextID(_ now: Moment) -> RunID {
        var random = random
        defer { self.random = random }
        return ids.next(unixMilliseconds: UInt64(max(0, now.unix)) / 1_000_000) { random.next() }
    }

    mutating func entry(for identifier: String, task: Int) -> Int {
        if let known = book.entry(of: identifier) { return known }
        let quota = quota(of: task)
        let plugin = catalog.pluginOfTask[task]
        let overlap = catalog.tasks[task].overlap
        return book.entry(
            for: identifier,
            definition: task,
            group: plugin,
            quota: quota,
            overlap: overlap
        )
    }

    // MARK: Events of time

    /// A date may have come.
    package mutating func datesCame(now: Moment, _ effects: inout [SchedulerEffect]) {
        note(.datesCame, at: now)
        book.becomeDue(now: now.unix)
        endParked(now: now, &effects)
        refillBudgets(gates.budgets.refill(now: now.unix), now: now)
        beginWhatCan(now: now, &effects)
    }

    /// Somebody set the clock: every date is looked at again.
    package mutating func clockWasSet(now: Moment, _ effects: inout [SchedulerEffect]) {
        note(.clockWasSet, at: now)
        lookAtDates(now: now, &effects)
    }

    mutating func lookAtDates(now: Moment, _ effects: inout [SchedulerEffect]) {
        parking.clockWasSet(now: now.unix)
        refillBudgets(gates.budgets.clockWasSet(now: now.unix), now: now)
        for (entry, memory) in memories.sorted(by: { $0.key < $1.key }) {
            book.hold(
                entry: entry,
                until: memory.debt.nextStart(now: now.unix),
                now: now.unix
            )
        }
        for entry in schedules.keys.sorted() where book.entries[entry].pending?.slot != nil {
            submitNext(entry: entry, now: now, &effects)
        }
        // Of several requests of a task another one may go first now.
        for entry in book.entries.indices where book.entries[entry].hasRetries {
            book.retry(entry: entry, now: now.unix)
        }
        book.becomeDue(now: now.unix)
        endParked(now: now, &effects)
        beginWhatCan(now: now, &effects)
    }
}

/// SplitMix64, after Steele, Lea and Flood: chance that a seed repeats.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
