// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostFleetRules
internal import BghostMetrics
internal import BghostModel
internal import BghostPolicy
internal import BghostServices

/// How this host stands with the requests of the fleet, for its operators.
extension PartitionOwner {
    /// What is wrong before the first call has its answer: nothing.
    static let joining = "this host has not joined the fleet yet"
    /// What is wrong while an operator has drained this host: nothing.
    static let drained = "an operator has drained this host"

    // MARK: Changes

    /// Notes why nothing of the fleet starts here.
    ///
    /// - Parameter reason: `nil` when its requests start.
    func note(problem reason: String?) {
        let isLoss = problem == nil && reason != nil && toldUntil != .zero
        if isLoss, reason != Self.drained, !isLeaving { leaseLosses += 1 }
        problem = reason
        lostAt = reason == nil ? nil : lostAt ?? clock.wall
        // What is known of the owners is as old as the lease.
        guard reason != nil, reason != Self.drained else { return }
        (knowsOwners, ownerlessSince, ownerless) = (false, [:], 0)
    }

    /// Notes who owns the partitions.
    func note(owners: [PartitionID: String]) {
        (self.owners, knowsOwners) = (owners, true)
        let now = clock.moment.sinceBoot
        for number in 0..<PartitionID.count {
            let partition = PartitionID(number: number)
            ownerlessSince[partition] =
                owners[partition] == nil ? ownerlessSince[partition] ?? now : nil
        }
        // A partition that is given back waits for the next claim of another host.
        ownerless = ownerlessSince.values.count { now.since($0) >= lease.length }
        tellStanding()
    }

    /// Tells the alerts of the host what begins or ends.
    func tellStanding() {
        guard isActive else { return }
        let now = (loss: lossSentence, ownerless: ownerlessSentence)
        let before = told
        told = now
        if now.loss != before.loss { member.onChange(.partitions, now.loss) }
        if now.ownerless != before.ownerless { member.onChange(.ownerless, now.ownerless) }
    }

    // MARK: Questions

    /// Why no request of the fleet starts on this host, a sentence without a full stop; `nil` if they start, if
    /// an operator has drained the host, and before the first call has its answer or its failure.
    package var lossSentence: String? {
        guard isActive, !isLeaving, !member.isDrained, let problem else { return nil }
        var reason = problem == Self.joining || problem == Self.drained ? "" : problem
        if session == nil, let loss = member.lossReason { reason = loss }
        if !unansweredReason.isEmpty { reason = unansweredReason }
        return reason.isEmpty ? nil : "no request of the fleet starts on this host: \(reason)"
    }

    /// That partitions have had no owner for longer than a lease, a sentence without a full stop; `nil` if each
    /// has one, or it is not known.
    var ownerlessSentence: String? {
        guard isActive, !isLeaving, ownerless > 0 else { return nil }
        let count = ownerless
        return "\(count) of the \(PartitionID.count) partitions of the fleet"
            + " \(count == 1 ? "has" : "have") no owner, so no request in"
            + " \(count == 1 ? "it" : "them") starts on any host"
    }

    private var unreadableSentence: String? {
        isActive && !isLeaving ? unreadable.sentence : nil
    }

    /// What an operator should resolve about the requests of the fleet; `nil` if nothing.
    package var problemSentence: String? {
        lossSentence ?? ownerlessSentence ?? unreadableSentence
    }

    /// The check of the health; `nil` without requests of the fleet.
    ///
    /// It is a warning: the other tasks of this host go on, and another host takes the partitions over.
    package var check: HealthReport.Check? {
        guard let settings, isActive else { return nil }
        let way = "repair the way to the database of `host.fleet`; bghost tries again by itself"
        if let lossSentence {
            return .init("partitions", .warning, since: lostAt, lossSentence, remedy: way)
        }
        if problem == nil, !unansweredReason.isEmpty {
            let text =
                "requests of the fleet start on this host until its lease ends; its last call failed:"
                + " \(unansweredReason)"
            return .init("partitions", .warning, text, remedy: way)
        }
        if let ownerlessSentence {
            return .init(
                "partitions",
                .warning,
                ownerlessSentence,
                remedy: "`bghost fleet hosts` shows who is drained or gone"
            )
        }
        if let unreadableSentence {
            return .init(
                "partitions",
                .warning,
                unreadableSentence,
                remedy: "update bghost on this host; the requests of hosts that can read them go on"
            )
        }
        let count = dispatcher.scheduler.ownedPartitions.count
        let standing =
            problem == nil || member.isDrained
            ? "owns \(count) of the \(PartitionID.count) partitions of the fleet"
            : "joins the fleet"
        return .init("partitions", .ok, "`\(settings.name)` \(standing)")
    }

    /// What the metrics show; `nil` without requests of the fleet.
    var metrics: MetricsSnapshot.Partitions? {
        guard isActive else { return nil }
        return MetricsSnapshot.Partitions(
            hasLease: lease.mayStart(now: clock.moment.sinceBoot),
            owned: dispatcher.scheduler.ownedPartitions.count,
            ownerless: knowsOwners ? ownerless : nil,
            leaseLosses: leaseLosses,
            callsFailed: callsFailed
        )
    }

    /// Adds what an operator of the fleet should know.
    func describe(_ status: inout FleetStatus) {
        status.partitionsProblem = lossSentence ?? unreadableSentence ?? ""
        status.partitionsLostAt = lossSentence == nil ? nil : lostAt
        status.ownerless = ownerless
    }
}
