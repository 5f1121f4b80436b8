// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostFacts
package import BghostModel

/// A scheduler that replays recorded events, to verify that its decisions are the same.
package struct SchedulerReplay: Sendable {
    private var scheduler: Scheduler
    /// Accepted requests that are not stored yet.
    private var arrivals: [RunID: Arrival] = [:]
    private var starts: [RunTicket: RunStart] = [:]
    /// Manifests of later reloads, by fingerprint.
    private var manifests: [String: Manifest] = [:]

    /// - Parameter later: manifests that may have been loaded while the scheduler ran.
    package init(_ settings: Scheduler.Settings, later: [Manifest] = []) {
        scheduler = Scheduler(settings)
        for manifest in [settings.manifest] + later { manifests[manifest.fingerprint] = manifest }
    }

    /// Whether the data that an event refers to is available.
    package func has(_ input: SchedulerInput) -> Bool {
        guard case .reloaded(let manifest, _, _) = input else { return true }
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
        case .begin(let incarnation): scheduler.begin(incarnation: incarnation, now: now)
        case .tookOverSwitch(let name, let reason):
            scheduler.takeOver(switchedOff: name, reason: reason, now: now)
        case .tookOverMemory(let memory): scheduler.takeOver(memory, now: now)
        case .tookOverRequest(let request): scheduler.takeOver(request, now: now, &effects)
        case .tookOverRun(let run, let request):
            scheduler.takeOver(interrupted: run, of: request, now: now, &effects)
        case .tookOverUse(let use): scheduler.takeOver(use, now: now)
        case .start: scheduler.start(now: now, &effects)
        case .drain: scheduler.drain(now: now)
        case .dispatch: scheduler.dispatch(now: now, &effects)
        case .datesCame: scheduler.datesCame(now: now, &effects)
        case .clockWasSet: scheduler.clockWasSet(now: now, &effects)
        case .storeHolds(let reason): scheduler.storeHolds(reason, now: now, &effects)
        case .clockLooked(let doubt): scheduler.clockLooked(doubt, now: now, &effects)
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
            scheduler.set(plugin: plugin, switchedOff: off, now: now, &effects)
        default: guard applyToRequests(entry, &effects) else { return nil }
        }
        for case .begin(let start) in effects { starts[start.ticket] = start }
        return effects
    }

    private mutating func applyToRequests(
        _ entry: SchedulerInput.Entry,
        _ effects: inout [SchedulerEffect]
    ) -> Bool {
        let now = entry.at
        switch entry.input {
        case .accept(let submission, let isSimulated, let submitter):
            let arrival = try? scheduler.accept(
                submission,
                isSimulated: isSimulated,
                by: submitter,
                now: now
            )
            if let arrival { arrivals[arrival.request.id] = arrival }
        case .wake(let identifier, let id, let earliest):
            let arrival = scheduler.wake(identifier, id: id, earliest: earliest, now: now)
            if let arrival { arrivals[arrival.request.id] = arrival }
        case .arrived(let id, let isStored):
            guard let arrival = arrivals.removeValue(forKey: id) else { return false }
            scheduler.arrived(arrival, isStored: isStored, now: now, &effects)
        case .ended(let ticket, let finish):
            guard starts[ticket]?.record.id == finish.record.id else { return false }
            scheduler.ended(ticket, finish, now: now, &effects)
        case .couldNotBegin(let ticket, let message):
            guard let start = starts[ticket] else { return false }
            scheduler.couldNotBegin(start, message, now: now, &effects)
        case .shortage(let ticket, let message):
            guard let start = starts[ticket] else { return false }
            scheduler.couldNotBegin(start, message, isShortage: true, now: now, &effects)
        case .withdraw(let identifier):
            _ = scheduler.withdraw(identifier, now: now, &effects)
        case .withdrawAll(let identifiers):
            _ = scheduler.withdrawAll(of: identifiers, now: now, &effects)
        case .redriven(let requests): scheduler.redriven(requests, now: now, &effects)
        case .reloaded(let fingerprint, let slots, let replaced):
            guard let manifest = manifests[fingerprint] else { return false }
            scheduler.reload(manifest, slots: slots, replacing: replaced, now: now, &effects)
        case .clearThrottle(let identifier):
            _ = scheduler.clearThrottle(identifier, now: now, &effects)
        case .used(let identifier): _ = scheduler.used(identifier, now: now)
        case .forgetUses(let identifier): _ = scheduler.forgetUses(of: identifier, now: now)
        default: return false
        }
        return true
    }
}

extension Manifest {
    /// Identifies a manifest across processes, independently of its path and the order of its
    /// sections.
    package var fingerprint: String {
        var manifest = self
        for index in plugins.indices { manifest.plugins[index].origin = SourceLocation() }
        for index in functions.indices { manifest.functions[index].origin = SourceLocation() }
        for index in tasks.indices { manifest.tasks[index].origin = SourceLocation() }
        return String(sipHash13(Array(CanonicalText(manifest).text.utf8)), radix: 16)
    }
}

extension SchedulerEffect {
    /// A line that is equal for equal decisions in every process; for comparison, not for reading.
    package var fingerprint: String {
        let all = CanonicalText(self).text
        let name = all.prefix { $0 != "(" }
        return "\(name) \(String(sipHash13(Array(all.utf8)), radix: 16))"
    }
}
