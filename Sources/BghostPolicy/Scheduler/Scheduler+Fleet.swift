// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Starts of schedules that one host of the fleet serves: `"runs": "onceInFleet"`.
///
/// Such a start is claimed when nothing else blocks it. It begins only with the claim, and while the lease of
/// this host is certainly valid.
extension Scheduler {
    /// Records that this host has a lease.
    ///
    /// Starts that others serve are claimed again: their host may have died.
    ///
    /// - Parameter end: until when runs may start without another answer of the fleet.
    package mutating func fleetRenewed(
        until end: MonotonicInstant,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.fleetRenewed(until: end), at: now)
        gates.fleet.now = now.sinceBoot
        if !gates.fleet.isValid {
            // The lease may have ended without an event, for instance while the process was stopped.
            gates.fleet.forgetClaims()
            stopFleetRuns(&effects)
        }
        gates.fleet.validUntil = end
        gates.fleet.lostAt = nil
        releaseForgotten(&effects)
        gates.fleet.claimAll()
        claimStarts(&effects)
        startReadyRequests(now: now, &effects)
    }

    /// Records that this host's lease is no longer certain: its runs of such tasks are stopped, and none begins.
    package mutating func fleetLost(
        _ reason: String,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.fleetLost(reason), at: now)
        gates.fleet.validUntil = .zero
        gates.fleet.problem = reason
        gates.fleet.lostAt = gates.fleet.lostAt ?? now.unix
        gates.fleet.forgetClaims()
        stopFleetRuns(&effects)
    }

    /// Handles the fleet's answer to a claim.
    package mutating func fleetAnswered(
        _ claim: FleetClaim,
        _ answer: FleetAnswer,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.fleetAnswered(claim, answer), at: now)
        guard let start = gates.fleet.starts[claim.request] else {
            // The request ended meanwhile.
            if answer == .claimed { effects.append(.releaseStart(claim, .free)) }
            return
        }
        // An answer from before the lease ended says nothing about now.
        guard start.state != .wanted, start.state != .held else { return }
        switch answer {
        case .claimed: gates.fleet.set(.held, of: claim.request)
        case .taken(let host): gates.fleet.set(.taken(by: host), of: claim.request)
        case .served(let host): gates.fleet.set(.served(by: host), of: claim.request)
        case .drained: gates.fleet.set(.drained, of: claim.request)
        case .unknown: gates.fleet.set(.wanted, of: claim.request)
        }
        guard let entry = pendingIndex.entry(of: claim.task) else { return }
        pendingIndex.recheck(entry: entry, now: now.unix)
        startReadyRequests(now: now, &effects)
    }

    /// Takes over the claims of this host's previous daemon.
    ///
    /// What still waits is claimed again; all else has ended.
    package mutating func fleetClaims(
        _ claims: [FleetClaim],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.fleetClaims(claims), at: now)
        gates.fleet.now = now.sinceBoot
        for claim in claims where gates.fleet.starts[claim.request] == nil {
            if isKnown(claim) {
                gates.fleet.want(claim)
            } else {
                effects.append(.releaseStart(claim, .served))
            }
        }
        claimStarts(&effects)
    }

    /// The other host that serves or has served the start of a request; `nil` if there is none.
    package func serverOfStart(_ request: RunID) -> String? { gates.fleet.server(of: request) }

    /// Makes the claims that are due.
    mutating func claimStarts(_ effects: inout [SchedulerEffect]) {
        for claim in gates.fleet.takeClaims() { effects.append(.claimStart(claim)) }
    }

    /// Ends the claim of a request that has ended; does nothing if it has none.
    mutating func releaseStart(
        of request: RunID,
        _ release: FleetRelease,
        _ effects: inout [SchedulerEffect]
    ) {
        guard let start = gates.fleet.remove(request) else { return }
        switch start.state {
        case .asked, .held, .wanted: effects.append(.releaseStart(start.claim, release))
        case .taken, .served, .drained: break
        }
    }

    /// Ends the claims of requests that are gone, for instance since a reload removed their schedule.
    private mutating func releaseForgotten(_ effects: inout [SchedulerEffect]) {
        for start in gates.fleet.starts.values.sorted(by: { $0.claim.request < $1.claim.request })
        where !isKnown(start.claim) {
            releaseStart(of: start.claim.request, .free, &effects)
        }
    }

    private mutating func isKnown(_ claim: FleetClaim) -> Bool {
        guard let entry = pendingIndex.entry(of: claim.task) else { return false }
        if pendingIndex.entries[entry].place(of: claim.request) != nil { return true }
        var compared = 0
        defer { claimComparisons += compared }
        return running.all.contains {
            compared += 1
            return $0.running.request.id == claim.request
        }
    }

    private mutating func stopFleetRuns(_ effects: inout [SchedulerEffect]) {
        for (handle, run) in running.all where gates.isOnceInFleet(run.request, task: run.task) {
            let why = "the lease of this host in the fleet ended: \(gates.fleet.problem)"
            effects.append(.stop(handle, .condition, why: why))
        }
    }

    /// The gate of a request whose start one host serves; `nil` for others.
    func fleetGate(_ request: Request, task: Int, now: Moment) -> Gate? {
        guard gates.isOnceInFleet(request, task: task) else { return nil }
        let fleet = gates.fleet
        let isValid = now.sinceBoot < fleet.validUntil
        var gate = Gate(
            .fleet,
            isOpen: false,
            now: "",
            wanted: "the claim of this host to the start",
            source: settings.manifestPath,
            since: isValid ? nil : fleet.lostAt
        )
        switch fleet.starts[request.id]?.state {
        case .taken(let host) where !isValid:
            gate.now =
                "no valid lease in the fleet: \(fleet.problem); before, host `\(host)` served this start"
            gate.condition = "this host had a valid lease in the fleet"
        case .taken(let host):
            gate.now = "host `\(host)` serves this start"
            gate.condition = "host `\(host)` had died"
        case .served(let host): gate.now = "host `\(host)` has served this start"
        case _ where !isValid:
            gate.now = "no valid lease in the fleet: \(fleet.problem)"
            gate.remedy = "make the fleet's store reachable; `bghost status --fleet` says more"
            gate.condition = "this host had a valid lease in the fleet"
        case .drained:
            gate.now = "an operator has drained this host, and no other host has the start yet"
            gate.remedy = "`bghost fleet undrain` with the name of this host ends the drain"
            gate.condition = "the drain of this host had ended"
        case .held:
            gate.isOpen = true
            gate.now = "this host has claimed the start"
        case nil:
            gate.isOpen = true
            gate.now = "this host claims the start when nothing else holds it"
        case .wanted, .asked:
            gate.now = "this host has asked for the start; the answer is under way"
            gate.condition = "the fleet had answered"
        }
        return gate
    }
}

extension RunGates {
    /// Whether one host of the fleet serves the start of a request.
    func isOnceInFleet(_ request: Request, task: Int) -> Bool {
        catalog.tasks[task].isOnceInFleet && request.isOfSchedule && !request.isManual
    }

    /// Whether a request may start, if this host has to have claimed its start; claims it at the first time.
    mutating func mayServe(_ request: Request, task: Int) -> Bool {
        guard isOnceInFleet(request, task: task), let slot = request.scheduledTime else {
            return true
        }
        guard let start = fleet.starts[request.id] else {
            fleet.want(FleetClaim(task: request.task, slot: slot, request: request.id))
            return false
        }
        return start.state == .held && fleet.isValid
    }
}
