// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
package import BghostLinux
package import BghostMetrics
package import BghostModel
internal import BghostPolicy
package import BghostServices

/// This host's membership in a fleet: its lease, its claims, and what the fleet answers.
///
/// The link works on a thread of its own, one call after the other. Without a fleet there is no thread and no
/// deadline. The host owns it. Use it on the reactor's thread only; it does not block. A renewal costs O(open
/// claims), questions O(hosts), anything else O(1).
package final class FleetMember {
    let settings: FleetSettings?
    private let link: (any FleetLink)?
    /// What computes the fingerprint of the tasks that run once in the fleet: O(tasks), so on the link's thread.
    private let tasks: () -> @Sendable () -> String
    let dispatcher: Dispatcher
    let deadlines: Deadlines
    let clock: DaemonClock
    let log: HostLog
    let reactor: Reactor
    /// The requests of the fleet that this host owns; `nil` without tasks whose requests live there.
    package var partitions: PartitionOwner?
    /// `nil` before this host joins its fleet, and after it has left.
    private var calls: FleetCalls?
    private var deadline: MonotonicInstant = .zero
    /// When the next renewal is sent, in time since boot.
    private var renewal: MonotonicInstant = .zero
    private(set) var isRenewing = false
    /// Whether an operator has drained this host, as far as it knows.
    private(set) var isDrained = false
    /// Until when runs may start, in time since boot; zero without a lease.
    private var validUntil: MonotonicInstant = .zero
    /// Why the last call failed.
    private var problem: FleetProblem?
    /// Since when there is no valid lease, Unix nanoseconds.
    private var lostAt: Int64?
    /// When the last answered renewal was answered, Unix nanoseconds.
    private var renewedAt: Int64?
    private var renewalsFailed: UInt64 = 0
    /// Called with the reason when something is lost that an alert is about, and with `nil` when it is back.
    package var onChange: (_ rule: AlertRule, _ problem: String?) -> Void = { _, _ in }

    /// - Parameters:
    ///   - link: `nil` without a fleet.
    ///   - tasks: called with each renewal; what it returns is called on the link's thread, and gives
    ///     `Manifest.fleetTasks` of the manifest in force.
    package init(
        _ settings: FleetSettings?,
        _ link: (any FleetLink)?,
        _ dispatcher: Dispatcher,
        _ deadlines: Deadlines,
        _ clock: DaemonClock,
        log: HostLog,
        reactor: Reactor,
        tasks: @escaping () -> @Sendable () -> String = { { "" } }
    ) {
        self.settings = settings
        self.link = link
        self.tasks = tasks
        self.dispatcher = dispatcher
        self.deadlines = deadlines
        self.clock = clock
        self.log = log
        self.reactor = reactor
    }

    /// Registers this host; call it before the scheduler starts.
    package func begin() {
        partitions?.begin()
        guard let link else { return }
        calls = FleetCalls(link, on: reactor) { [weak self] result in
            self?.renewed(result)
        } answered: { [weak self] claims, answers in
            for (claim, answer) in zip(claims, answers) { self?.answer(claim, answer) }
        }
        lostAt = clock.wall
        dispatcher.decide { scheduler, now, effects in
            scheduler.fleetLost("this host has not registered yet", now: now, &effects)
        }
        renew()
    }

    /// Leaves the fleet, so that no other host waits for this one's lease.
    ///
    /// It returns when the fleet knows, or when the fleet has not answered for a quarter of the lease.
    package nonisolated(nonsending) func leave() async {
        await partitions?.leave()
        guard let calls else { return }
        self.calls = nil
        await calls.leave()
    }

    // MARK: Deadlines

    /// Whether a deadline is the one that is armed.
    package func isLive(_ token: TimerToken, _ deadline: MonotonicInstant) -> Bool {
        guard token == .partitions else { return deadline == self.deadline }
        return partitions?.isLive(deadline) ?? false
    }

    /// Handles a deadline that has passed.
    package func deadlinePassed(_ token: TimerToken) {
        if token == .partitions { partitions?.deadlinePassed() } else { deadlinePassed() }
    }

    /// Whether this host has a valid lease, as of the last event.
    var hasLease: Bool { lostAt == nil }

    /// Renews the lease, or reports its end.
    func deadlinePassed() {
        clock.read()
        let now = clock.moment.sinceBoot
        if validUntil != .zero, now >= validUntil {
            lose(problem ?? FleetProblem(.unreachable, "its store has not answered in time"))
        }
        if now >= renewal { renew() } else { arm() }
    }

    private func arm() {
        let now = clock.moment.sinceBoot
        let next = validUntil == .zero ? renewal : min(renewal, validUntil)
        deadline = clock.monotonic + (next > now ? next.since(now) : 0)
        deadlines.arm(.fleet, at: deadline)
    }

    // MARK: The lease

    /// Two renewals may fail before the lease counts as lost.
    private var period: UInt64 { (settings?.leaseNanoseconds ?? 0) / 6 }

    private func renew() {
        guard let calls else { return }
        renewal = clock.moment.sinceBoot + period
        arm()
        guard !isRenewing else { return }
        isRenewing = true
        calls.renew(tasks())
    }

    private func renewed(_ result: Result<FleetRenewal, FleetProblem>) {
        isRenewing = false
        guard calls != nil, let settings else { return }
        clock.read()
        switch result {
        case .failure(let problem):
            renewalsFailed += 1
            let isNew = self.problem != problem
            self.problem = problem
            if validUntil == .zero || clock.moment.sinceBoot >= validUntil {
                if isNew || validUntil != .zero { lose(problem) }
            } else if isNew {
                log.write(.warning, "fleet.unanswered", problem.reason)
            }
        case .success(let renewal):
            // Another host waits for the whole lease; half of it remains for stopping the runs.
            let end = renewal.sentAt + settings.leaseNanoseconds / 2
            let isBack = lostAt != nil
            if isBack {
                log.write(.info, "fleet.joined", "`\(settings.name)` has a lease in the fleet")
            }
            (problem, lostAt, renewedAt) = (nil, nil, clock.wall)
            validUntil = end
            noteDrain(renewal.isDrained)
            if isBack { onChange(.fleet, nil) }
            partitions?.tellStanding()
            arm()
            dispatcher.decide { scheduler, now, effects in
                scheduler.fleetRenewed(until: end, now: now, &effects)
            }
            if !renewal.open.isEmpty {
                dispatcher.decide { scheduler, now, effects in
                    scheduler.fleetClaims(renewal.open, now: now, &effects)
                }
            }
        }
    }

    private func noteDrain(_ isDrained: Bool) {
        guard isDrained != self.isDrained, let settings else { return }
        self.isDrained = isDrained
        log.write(
            .info,
            isDrained ? "fleet.drained" : "fleet.undrained",
            isDrained
                ? "`\(settings.name)` is drained: it claims no start of the fleet, and ends those it has"
                : "`\(settings.name)` is no longer drained and claims starts of the fleet"
        )
    }

    private func lose(_ problem: FleetProblem) {
        validUntil = .zero
        lostAt = lostAt ?? clock.wall
        let reason = problem.reason
        self.problem = problem
        // The scheduler asks for them again with the next lease.
        calls?.removeClaims()
        log.write(
            .warning,
            "fleet.lost",
            "no valid lease in the fleet, so no task with `onceInFleet` starts: \(reason)"
        )
        dispatcher.decide { scheduler, now, effects in
            scheduler.fleetLost(reason, now: now, &effects)
        }
        onChange(.fleet, lossSentence)
        partitions?.tellStanding()
    }

    // MARK: Claims

    /// Claims a start, and passes the answer to the scheduler.
    package func claim(_ claim: FleetClaim) {
        guard let calls else { return answer(claim, .unknown) }
        calls.claim(claim)
    }

    private func answer(_ claim: FleetClaim, _ answer: FleetAnswer) {
        clock.read()
        dispatcher.decide { scheduler, now, effects in
            scheduler.fleetAnswered(claim, answer, now: now, &effects)
        }
    }

    /// Ends a claim, now or when the fleet answers again.
    package func release(_ claim: FleetClaim, _ release: FleetRelease) {
        calls?.release(claim, release)
    }

    // MARK: Questions

    /// Why there is no valid lease, a sentence without a full stop; `nil` with one, without a fleet, and
    /// before the first renewal has its answer or its failure.
    package var lossSentence: String? {
        lossReason.map {
            "no valid lease in the fleet, so no task with `onceInFleet` starts: \($0)"
        }
    }

    var lossReason: String? { lostAt == nil ? nil : problem?.reason }

    /// The check of the health; `nil` without a fleet.
    ///
    /// It is a warning: the other tasks of this host go on, and another host serves those of the fleet.
    package var check: HealthReport.Check? {
        guard let settings, link != nil else { return nil }
        guard let lossSentence else {
            let standing = lostAt == nil ? "has a lease in the fleet" : "joins the fleet"
            let drain = isDrained ? "; it is drained and claims no start" : ""
            return .init("fleet", .ok, "`\(settings.name)` \(standing)\(drain)")
        }
        return .init(
            "fleet",
            .warning,
            since: lostAt,
            lossSentence,
            remedy: "repair the way to the database of `host.fleet`; bghost tries again by itself"
        )
    }

    /// What the metrics show; `nil` without a fleet.
    package var metrics: MetricsSnapshot.Fleet? {
        guard link != nil else { return nil }
        return MetricsSnapshot.Fleet(
            hasLease: lostAt == nil,
            renewedAt: renewedAt,
            renewalsFailed: renewalsFailed,
            partitions: partitions?.metrics
        )
    }

    /// The hosts of the fleet, as its store has them.
    package nonisolated(nonsending) func status() async -> FleetStatus {
        guard let settings, let calls else { return FleetStatus() }
        var status = FleetStatus()
        status.name = settings.name
        let now = clock.moment.sinceBoot
        status.validFor = validUntil > now ? Int64(clamping: validUntil.since(now)) : 0
        status.problem = problem?.reason ?? ""
        status.lostAt = lostAt
        partitions?.describe(&status)
        switch await calls.ask({ link throws(FleetProblem) in try link.hosts() }) {
        case .success(let hosts): status.hosts = hosts
        case .failure(let error): status.problem = error.reason
        }
        status.findings = status.diagnosis
        return status
    }

    // MARK: Drains

    /// Drains a host of the fleet, or ends that, and returns when the fleet's store has it.
    package nonisolated(nonsending) func setDrained(
        _ isDrained: Bool,
        host name: String
    ) async throws(OperatorRefusal) -> FleetDrain {
        guard link != nil else { throw .noFleet }
        guard let calls else {
            throw OperatorRefusal(.unavailable, "this host joins or leaves its fleet now")
        }
        // The store gets texts without NUL, and would read this one up to there.
        let canExist = !name.utf8.contains(0) && name.utf8.count <= FleetSettings.nameBytesMax
        let answer = await calls.ask { link throws(FleetProblem) in
            let isChanged = try canExist ? link.setDrained(isDrained, host: name) : nil
            return (isChanged: isChanged, hosts: try link.hosts())
        }
        switch answer {
        case .failure(let problem):
            throw OperatorRefusal(
                .fleetUnanswered,
                "the fleet does not answer: \(problem.reason)",
                fix: "`bghost fleet hosts` shows whether it was done"
            )
        case .success(let answer):
            guard let isChanged = answer.isChanged,
                let host = answer.hosts.first(where: { $0.name == name })
            else { throw .noSuchHost(name, among: answer.hosts.map(\.name)) }
            return FleetDrain(host: host, isChanged: isChanged)
        }
    }
}
