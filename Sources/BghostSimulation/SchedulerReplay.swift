// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
package import BghostModel
package import BghostPolicy

/// A scheduler that replays recorded events, to verify that its decisions are the same.
package struct SchedulerReplay: Sendable {
    private var scheduler: Scheduler
    /// Accepted requests that are not stored yet.
    private var unstored: [RunID: AcceptedSubmission] = [:]
    private var starts: [RunHandle: RunStart] = [:]
    /// Manifests of later reloads, by fingerprint.
    private var manifests: [String: Manifest] = [:]

    /// - Parameter later: manifests that may have been loaded while the scheduler ran.
    package init(_ settings: Scheduler.Settings, later: [Manifest] = []) {
        scheduler = Scheduler(settings)
        for manifest in [settings.manifest] + later { manifests[manifest.fingerprint] = manifest }
    }

    /// Whether the data that an event refers to is available.
    package func has(_ input: SchedulerInput) -> Bool {
        guard case .reloaded(let manifest, _, _, _) = input else { return true }
        return manifests[manifest] != nil
    }

    /// Applies one event.
    ///
    /// - Returns: the scheduler's decisions; `nil` if the event is impossible here, since this
    ///   scheduler has decided differently before.
    package mutating func apply(_ entry: SchedulerInput.Entry) -> [SchedulerEffect]? {
        let now = entry.at
        var effects: [SchedulerEffect] = []
        switch entry.input {
        case .begin(let incarnation): scheduler.setIncarnation(incarnation, now: now)
        case .restoredDisabledPlugin(let name, let reason):
            scheduler.restore(disabledPlugin: name, reason: reason, now: now)
        case .restoredTask(let memory): scheduler.restore(memory, now: now)
        case .restoredRequest(let request): scheduler.restore(request, now: now, &effects)
        case .restoredRun(let run, let request):
            scheduler.restore(interrupted: run, of: request, now: now, &effects)
        case .restoredRuntimeUse(let use): scheduler.restore(use, now: now)
        case .start: scheduler.start(now: now, &effects)
        case .drain: scheduler.drain(now: now)
        case .dispatch: scheduler.dispatch(now: now, &effects)
        case .timerFired: scheduler.timerFired(now: now, &effects)
        case .clockWasSet: scheduler.clockWasSet(now: now, &effects)
        case .storeBlocked(let reason): scheduler.storeBlocked(reason, now: now, &effects)
        case .clockChecked(let doubt): scheduler.clockChecked(doubt, now: now, &effects)
        case .factsChanged(let probes, let facts, let changed):
            scheduler.factsChanged(
                FactSheet(probes: probes, facts: facts),
                changed,
                now: now,
                &effects
            )
        case .problem(let plugin, let text):
            scheduler.plugin(plugin, hasProblem: text, now: now, &effects)
        case .loaded(let plugin, let serial):
            scheduler.pluginLoaded(plugin, serial: serial, now: now, &effects)
        case .switched(let plugin, let off):
            scheduler.set(plugin: plugin, disabledReason: off, now: now, &effects)
        case .paused(let pause): scheduler.pause(pause, now: now, &effects)
        // The answer was the operator's; the effects are what is compared.
        case .resumed(let target): _ = scheduler.resume(target, now: now, &effects)
        case .restoredPause(let pause): scheduler.restore(pause, now: now)
        case .fleetRenewed(let end): scheduler.fleetRenewed(until: end, now: now, &effects)
        case .fleetLost(let reason): scheduler.fleetLost(reason, now: now, &effects)
        case .fleetAnswered(let claim, let answer):
            scheduler.fleetAnswered(claim, answer, now: now, &effects)
        case .fleetClaims(let claims): scheduler.fleetClaims(claims, now: now, &effects)
        case .partition(let event): scheduler.handle(event, now: now, &effects)
        case .accept, .wake, .submissionFinished, .runEnded, .startFailed, .shortage, .withdraw,
            .withdrawAll,
            .redriven, .reloaded, .clearThrottle, .resultUsed, .forgetUses:
            guard applyToRequests(entry, &effects) else { return nil }
        }
        for case .startRun(let start) in effects { starts[start.handle] = start }
        return effects
    }

    private mutating func applyToRequests(
        _ entry: SchedulerInput.Entry,
        _ effects: inout [SchedulerEffect]
    ) -> Bool {
        let now = entry.at
        switch entry.input {
        case .accept(let submission, let isManual, let submitter):
            // A refusal is a decision like any other; it leaves no request.
            let accepted = try? scheduler.accept(
                submission,
                isManual: isManual,
                by: submitter,
                now: now
            )
            if let accepted { unstored[accepted.request.id] = accepted }
        case .wake(let identifier, let id, let earliest):
            let accepted = scheduler.wake(identifier, id: id, earliest: earliest, now: now)
            if let accepted { unstored[accepted.request.id] = accepted }
        case .submissionFinished(let id, let isStored):
            guard let accepted = unstored.removeValue(forKey: id) else { return false }
            scheduler.finishSubmission(accepted, isStored: isStored, now: now, &effects)
        case .runEnded(let handle, let finish):
            guard starts[handle]?.record.id == finish.record.id else { return false }
            scheduler.runEnded(handle, finish, now: now, &effects)
        case .startFailed(let handle, let message):
            guard let start = starts[handle] else { return false }
            scheduler.startFailed(start, message, now: now, &effects)
        case .shortage(let handle, let message):
            guard let start = starts[handle] else { return false }
            scheduler.startFailed(start, message, isShortage: true, now: now, &effects)
        case .withdraw(let identifier):
            // Here and below, the answer was the caller's; the effects are what is compared.
            _ = scheduler.withdraw(identifier, now: now, &effects)
        case .withdrawAll(let identifiers):
            // As above.
            _ = scheduler.withdrawAll(of: identifiers, now: now, &effects)
        case .redriven(let requests): scheduler.redriven(requests, now: now, &effects)
        case .reloaded(let fingerprint, let slots, let replaced, let kept):
            guard let manifest = manifests[fingerprint] else { return false }
            scheduler.reload(
                manifest,
                slots: slots,
                replacing: replaced,
                keeping: kept ?? Array(scheduler.catalog.plugins.indices),
                now: now,
                &effects
            )
        case .clearThrottle(let identifier):
            // As above.
            _ = scheduler.clearThrottle(identifier, now: now, &effects)
        case .resultUsed(let identifier): _ = scheduler.resultUsed(identifier, now: now)
        case .forgetUses(let identifier): _ = scheduler.forgetUses(of: identifier, now: now)
        // `apply` carries these out itself.
        case .begin, .restoredDisabledPlugin, .restoredTask, .restoredRequest, .restoredRun,
            .restoredRuntimeUse, .start, .drain, .dispatch, .timerFired, .clockWasSet,
            .storeBlocked,
            .clockChecked, .factsChanged, .problem, .loaded, .switched, .paused, .resumed,
            .restoredPause, .fleetRenewed, .fleetLost, .fleetAnswered, .fleetClaims, .partition:
            return false
        }
        return true
    }
}
