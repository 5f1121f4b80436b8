// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux

/// Requirements: what must hold of the machine, and what becomes of runs when it no longer does.
extension Host {
    /// Tokens of the reactor that belong to facts; those of workers are far below.
    private static let factTokens: UInt64 = 1 << 48

    /// Begins to watch what some task may require, and nothing else.
    ///
    /// - Parameter known: what is known already, and what of it has just changed.
    func startFacts(_ known: (sheet: FactSheet, changed: RequirementSet)? = nil) {
        let wanted = scheduler.catalog.requirements
        watched = wanted
        guard !wanted.isEmpty || known != nil else { return }
        let definitions = manifest.host.facts
        let sources =
            configuration.factSources?(wanted)
            ?? FactSettings(definitions, storage: configuration.stateDirectory)
            .sources(for: wanted, spawner: spawner)
        do {
            let facts = try MachineFacts(
                sources: sources,
                probes: definitions.probes.map(\.name),
                known: known?.sheet,
                reactor: reactor,
                tokens: Self.factTokens
            )
            self.facts = facts
            let changed = try facts.start(now: moment)
            factsChanged(changed.union(known?.changed ?? []))
        } catch {
            log.write(
                .error,
                "facts.failed",
                "what tasks require cannot be watched, so it counts as unknown: \(error.description)"
            )
        }
    }

    /// Watches what another manifest requires, where that is not what is watched.
    ///
    /// What is known stays known: to begin anew would have the machine busy, and the network away, for
    /// as long as that takes to be seen, and end runs for it.
    func restartFacts(_ before: FactDefinitions) {
        let definitions = manifest.host.facts
        guard scheduler.catalog.requirements != watched || before != definitions else { return }
        let known = facts?.sheet.renewed(
            probes: definitions.probes.map(\.name),
            keepsUPS: before.ups == definitions.ups,
            now: moment
        )
        facts?.stop()
        facts = nil
        startFacts(known)
    }

    /// Has a requirement be what somebody says; `nil` ends that.
    func simulate(_ fact: SimulatedFact) throws(SystemError) {
        if facts == nil {
            // No task requires anything yet, so nothing of the machine need be read.
            let facts = try MachineFacts(
                sources: [],
                reactor: reactor,
                tokens: Self.factTokens
            )
            _ = try facts.start(now: moment)
            self.facts = facts
        }
        guard let facts else { return }
        let name = fact.requirement.name(probes: facts.sheet.probes)
        log.write(
            .warning,
            "fact.simulated",
            fact.value.map { "\(name) is said to be \($0)" }
                ?? "\(name) is what the machine says again"
        )
        factsChanged(facts.simulate(fact, now: moment))
    }

    /// Hands a ready descriptor to the facts.
    ///
    /// - Returns: `false` if it is not one of theirs.
    func factsReady(_ token: UInt64, _ readiness: Readiness) -> Bool {
        guard let facts, facts.owns(token) else { return false }
        factsChanged(facts.ready(token, readiness, now: moment))
        return true
    }

    func factsDue() {
        guard let facts else { return }
        factsChanged(facts.deadlinePassed(now: moment))
    }

    private func factsChanged(_ changed: RequirementSet) {
        guard let facts else { return }
        if facts.deadline != .max, facts.deadline != armedFacts {
            armedFacts = facts.deadline
            arm(facts.deadline, token: TimerToken.facts.raw)
        }
        for requirement in changed.each {
            let fact = facts.sheet[requirement]
            log.write(
                .info,
                "fact.changed",
                "\(requirement.name(probes: facts.sheet.probes)): \(fact.value)"
                    + " (\(fact.reading), \(fact.source))"
            )
        }
        decide { scheduler, now, effects in
            scheduler.factsChanged(facts.sheet, changed, now: now, &effects)
        }
        transferFactsChanged(changed)
    }
}

extension FactSettings {
    /// What the manifest says, and this machine's usual places.
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
