// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts
internal import BghostFleetRules
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore

/// The partitions of the fleet that this host owns: its lease, what it adopts and gives back, and the batches
/// that keep what the scheduler decides about their requests.
///
/// The store is called on a thread of its own, one call at a time. Without tasks with `"runs": "inFleet"` there
/// is no thread, no connection and no deadline. The host owns it. Use it on the reactor's thread only; it does
/// not block. An event costs O(its requests), a claim O(partitions) and what it gives back, anything else O(1).
package final class PartitionOwner {
    /// How often submissions of other hosts are looked for, nanoseconds.
    static let lookPeriod: UInt64 = 1_000_000_000
    /// The most submissions of one look, and of one call that posts some.
    static let lettersMax = 256
    /// The most submissions that wait to be posted.
    static let postsMax = 4096
    /// The most bytes of their parameters.
    static let postBytesMax = 16 << 20
    /// The most requests that are adopted in one turn.
    static let sliceMax = 1000
    /// The most dead letters of a partition; the oldest ones are dropped.
    static let deadMax = 1000
    /// The most partitions that are given back at a time.
    static let surplusMax = 32

    let settings: FleetSettings?
    let store: SharedPartitions?
    /// Makes a store for a question of an operator, which must not hold up the calls of the lease.
    let makeStore: (@Sendable () -> SharedPartitions)?
    /// Where such questions wait for their answers; `nil` before the first one.
    var questions: WorkThread?
    /// Cancels the run of a request, and says whether it has one.
    package var stopRun: (RunID) -> Bool = { _ in false }
    /// Says whether the daemon is the one with the name of this host, and whether that is drained.
    unowned let member: FleetMember
    /// Watches what requests require.
    let watch: (RequirementSet) -> Void
    let dispatcher: Dispatcher
    let commits: CommitQueue
    let deadlines: Deadlines
    let clock: DaemonClock
    let log: HostLog
    let reactor: Reactor
    lazy var reference = ReactorReference(self, on: reactor)
    var thread: WorkThread?
    private var deadline: MonotonicInstant = .zero
    /// Whether a call is under way.
    var isBusy = false
    private var isScheduled = false
    /// Whether nothing is under way; tests wait for it.
    var isIdle: Bool { !isBusy && !isScheduled && adoption == nil }

    // MARK: The membership

    var random = SystemRandomNumberGenerator()
    var lease: HostLease
    var reap: ReapRule
    /// `nil` outside of the fleet.
    var session: HostSession?
    /// Whether the last call had no answer, so that nothing else may be called.
    var needsResume = false
    /// No call before that, after one had no answer.
    var retryAt: MonotonicInstant = .zero
    var isRenewalDue = false
    /// Why the last call had no answer; "" if it had one.
    var unansweredReason = ""
    /// Until when the scheduler may start runs, as it knows.
    var toldUntil: MonotonicInstant = .zero
    /// Why nothing of the fleet starts here, as the scheduler knows.
    var problem: String?
    /// Since when nothing of the fleet starts here, Unix nanoseconds.
    var lostAt: Int64?
    /// How often the lease was lost, and how many calls had no answer, since the daemon started.
    var (leaseLosses, callsFailed) = (UInt64(0), UInt64(0))
    /// What the operators were last told.
    var told: (loss: String?, ownerless: String?) = (nil, nil)
    var isLeaving = false
    private var leaver: CheckedContinuation<Void, Never>?

    // MARK: Partitions

    var nextClaim: MonotonicInstant = .zero
    /// With how many slots the store counts this host.
    var offeredSlots = 0
    var nextLook: MonotonicInstant = .zero
    /// Granted, and not adopted yet.
    var grants: [PartitionGrant] = []
    /// What is read so far of granted partitions.
    var partsRead: [PartitionID: PartRead] = [:]
    /// No part of a partition is read before that, after one had no answer.
    var nextRead: MonotonicInstant = .zero
    /// What is being adopted, in parts.
    var adoption: Adoption?
    /// What this bghost cannot read in the partitions of this host.
    var unreadable = UnreadableRows()
    /// Given back, but for what the store does not have yet.
    var releasing: Set<PartitionID> = []
    /// The names of the owners of all partitions, as of the last claim.
    var owners: [PartitionID: String] = [:]
    /// Whether they are known since the lease began.
    var knowsOwners = false
    /// Since when each partition without an owner has none, in time since boot, as of the last claim.
    var ownerlessSince: [PartitionID: MonotonicInstant] = [:]
    /// How many of them have had none for a lease.
    var ownerless = 0

    /// The questions of operators that wait for an answer.
    ///
    /// Each occupies a connection to the control API.
    var asked = 0
    static let askedMax = 8

    // MARK: Requests

    var queue = BatchQueue()
    /// The requests that this host has, each with its run in progress.
    var requests = OwnedTable<RunID?>()
    /// Runs of this host that were in progress when it lost all its partitions, until it has them again.
    var ownRuns: Set<RunID> = []
    /// The dead letters in the partitions of this host.
    var dead = OwnedTable<DeadLetter>()
    /// Submissions that this host has taken, and the store does not know it yet.
    var taken: Set<RunID> = []
    /// Submissions to be posted, with the callers that wait.
    var posts: [FleetPost] = []
    /// The bytes of the parameters of these submissions.
    var postBytes = 0
    /// Those of them that are under way.
    var posting: [FleetPost] = []
    /// Submissions of this host for its own partitions on their way.
    var inbound: Set<RunID> = []
    private var wasPosting = false
    /// After which submission and after which cancel the next look begins.
    var (lettersAfter, cancelsAfter): (Int64, RunID?) = (-1, nil)
    /// Callers that wait until a transaction is kept.
    var waiting: [(transaction: UInt64, completion: (Result<Void, StoreError>) -> Void)] = []
    /// Ends of runs for the history of this host, once they are kept.
    var ended: [(transaction: UInt64, run: RunRecord)] = []
    /// Requests of this host's own store that belong in the fleet.
    var leftovers: ArraySlice<Request> = []

    /// - Parameters:
    ///   - makeStore: `nil` without tasks whose requests live in the fleet. What it makes for a question is
    ///     used on another thread, and only for that.
    ///   - watch: watches what requests require.
    package init(
        _ member: FleetMember,
        _ makeStore: (@Sendable () -> SharedPartitions)?,
        _ commits: CommitQueue,
        watch: @escaping (RequirementSet) -> Void
    ) {
        self.member = member
        self.makeStore = makeStore
        store = makeStore?()
        self.commits = commits
        self.watch = watch
        settings = member.settings
        dispatcher = member.dispatcher
        deadlines = member.deadlines
        clock = member.clock
        log = member.log
        reactor = member.reactor
        let length = member.settings?.leaseNanoseconds ?? 0
        lease = HostLease(length: length)
        reap = ReapRule(lease: length)
        // Before the scheduler restores anything: requests of this host's own store may belong in the fleet.
        if store != nil, settings != nil { lose(Self.joining) }
    }

    /// Whether requests may live in the fleet here.
    package var isActive: Bool { thread != nil }

    /// Begins to join the fleet; call it before the scheduler starts.
    func begin() {
        guard store != nil, settings != nil else { return }
        thread = WorkThread()
        // Only a daemon that joins has such requests in the fleet.
        leftovers = dispatcher.takeLeftovers()[...]
        commits.fleet = self
        schedule()
    }

    /// Has the store keep what it does not have yet, and gives all partitions back.
    ///
    /// It returns after the answers, or when there is none: then the others wait for the lease.
    nonisolated(nonsending) func leave() async {
        questions?.end()
        guard let thread else { return }
        isLeaving = true
        lease.leave()
        let unsent = posts
        (posts, postBytes) = ([], 0)
        for post in unsent {
            post.completion(
                .failure(StoreError("this host leaves the fleet; submit it on another one"))
            )
        }
        await withCheckedContinuation { continuation in
            leaver = continuation
            advance()
        }
        self.thread = nil
        commits.fleet = nil
        fail(CountText.of(waiting.count, "change"), "this host has left the fleet")
        thread.end()
    }

    func hasLeft() {
        leaver?.resume()
        leaver = nil
    }

    // MARK: Deadlines

    func isLive(_ deadline: MonotonicInstant) -> Bool { deadline == self.deadline }

    func deadlinePassed() {
        clock.read()
        advance()
    }

    /// Lets the next call begin after what happens now, so that one batch has the changes of a whole turn.
    func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        reference.perform { owner in
            owner.isScheduled = false
            owner.clock.read()
            owner.advance()
        }
    }

    /// Begins the next call that is due, unless one is under way.
    func advance() {
        guard thread != nil else { return }
        let now = clock.moment.sinceBoot
        var effects: [HostLease.Effect] = []
        lease.timePassed(now: now, &effects)
        apply(effects)
        guard !isBusy else { return arm(now) }
        guard now >= retryAt else { return isLeaving ? hasLeft() : arm(now) }
        // Submissions and batches take turns, so that neither holds the other up.
        if !posts.isEmpty, !isLeaving, !wasPosting || session == nil || needsResume {
            wasPosting = true
            return sendPosts()
        }
        wasPosting = false
        if session == nil {
            if isLeaving { return hasLeft() }
            if member.hasLease { return register() }
        } else if needsResume {
            return resume()
        } else if queue.isReady || isRenewalDue {
            return sendBatch()
        } else if isLeaving {
            return sendLeave()
        } else if adoption == nil, now >= nextRead, let grant = grants.first {
            return read(grant)
        } else if let given = givenBack() {
            return sendRelease(given)
        } else if now >= nextClaim {
            return claim(now)
        } else if now >= nextLook {
            return look(now)
        }
        if !posts.isEmpty { return schedule() }
        arm(now)
    }

    private func arm(_ now: MonotonicInstant) {
        var next = lease.nextDeadline
        if !isBusy {
            let isOutside = session == nil
            let work = isOutside ? now + Self.lookPeriod : min(nextClaim, nextLook)
            next = min(next, max(work, retryAt))
        }
        guard next != .never else { return }
        deadline = clock.monotonic + (next > now ? next.since(now) : 0)
        deadlines.arm(.partitions, at: deadline)
    }

    // MARK: The lease

    func apply(_ effects: [HostLease.Effect]) {
        for effect in effects {
            switch effect {
            case .renew: isRenewalDue = true
            case .stopExclusive: lose("its store has not answered in time")
            // No task is exclusive: runs go on, and the store refuses their ends if another host has begun.
            case .killExclusive, .sever: break
            case .restore: break
            case .killAll: standDown(problem ?? "the fleet's store has refused this host")
            }
        }
    }

    /// Tells the scheduler until when it may start runs, if that has changed by enough.
    func tellLease() {
        guard !member.isDrained else {
            return lose(Self.drained)
        }
        let end = lease.startsUntil
        guard end != .zero, problem != nil || end.since(min(toldUntil, end)) > lease.length / 20
        else { return }
        if problem != nil {
            log.write(.info, "partitions.leased", "requests of the fleet start on this host")
        }
        note(problem: nil)
        toldUntil = end
        tellStanding()
        dispatcher.decide { scheduler, now, effects in
            scheduler.handle(.leased(until: end), now: now, &effects)
        }
    }

    /// Tells the scheduler that nothing of the fleet may start.
    func lose(_ reason: String) {
        guard problem != reason else { return }
        if problem == nil, toldUntil != .zero {
            log.write(.warning, "partitions.lost", "no request of the fleet starts here: \(reason)")
        }
        note(problem: reason)
        toldUntil = .zero
        tellStanding()
        dispatcher.decide { scheduler, now, effects in
            scheduler.handle(.unleased(reason), now: now, &effects)
        }
    }

    /// Forgets all that this host owned, and registers again.
    func standDown(_ reason: String) {
        log.write(
            .warning,
            "partitions.fenced",
            "this host owns no request of the fleet any more, and ends its runs of them: \(reason)"
        )
        session = nil
        (needsResume, isRenewalDue) = (false, false)
        queue = BatchQueue()
        reap.refused()
        ownRuns.formUnion(requests.values.compactMap(\.self))
        (grants, adoption, releasing) = ([], nil, [])
        (partsRead, nextRead) = ([:], .zero)
        unreadable = UnreadableRows()
        (requests, dead) = (OwnedTable(), OwnedTable())
        (taken, inbound) = ([], [])
        ended = []
        note(problem: reason)
        toldUntil = .zero
        tellStanding()
        fail("it", reason)
        dispatcher.decide { scheduler, now, effects in
            scheduler.handle(.fenced(reason), now: now, &effects)
        }
    }

    /// Answers all who wait that what they wait for is not kept.
    private func fail(_ what: String, _ reason: String) {
        let callers = waiting
        waiting = []
        let error = StoreError("the fleet has not kept \(what): \(reason)")
        for caller in callers { caller.completion(.failure(error)) }
    }
}
