// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// Effects of changed facts.
extension Host {
    /// Watches the requirements of the manifest's tasks and of the requests.
    func watchFacts() {
        do throws(SystemError) {
            factsChanged(
                try facts.watch(
                    dispatcher.scheduler.catalog.requirements,
                    manifest.host.facts,
                    now: moment
                )
            )
        } catch {
            log.write(
                .error,
                "facts.failed",
                "what tasks require cannot be watched, so it counts as unknown: \(error.description)"
            )
        }
    }

    /// Watches the requirements of a request from now on.
    func watch(_ requirements: RequirementSet) {
        if facts.note(requested: requirements) { watchFacts() }
    }

    func simulate(_ fact: SimulatedFact) throws(SystemError) {
        let changed = try facts.simulate(fact, now: moment)
        let name = fact.requirement.name(probes: facts.probes)
        log.write(
            .warning,
            "fact.simulated",
            fact.value.map { "\(name) is simulated: \($0.word)" }
                ?? "\(name) is no longer simulated"
        )
        factsChanged(changed)
    }

    func factsDue() { factsChanged(facts.deadlinePassed(now: moment)) }

    /// Arms the next deadline of the facts, and informs the scheduler and the transfers.
    func factsChanged(_ changed: RequirementSet) {
        guard let sheet = facts.sheet else { return }
        if facts.deadline != .max, facts.deadline != armedFacts {
            armedFacts = facts.deadline
            arm(armedFacts, token: TimerToken.facts.raw)
        }
        for requirement in changed.each {
            log.write(.info, "fact.changed", facts.description(of: requirement, now: now))
        }
        // The store's disk may have free space again.
        if changed.contains(.storage) { store.retryNow() }
        decide { scheduler, now, effects in
            scheduler.factsChanged(sheet, changed, now: now, &effects)
        }
        transferFactsChanged(changed)
    }
}

extension FactSettings {
    /// The settings of the manifest, with default values for this machine.
    init(_ definitions: FactDefinitions, storage: String) {
        self.init(storage: storage)
        ups = definitions.ups.map {
            UPSMonitor.Address(
                host: $0.host,
                port: $0.port ?? UPSMonitor.Address.usualPort,
                supply: $0.supply
            )
        }
        meteredLinks = definitions.meteredLinks
        probes = definitions.probes
    }
}
