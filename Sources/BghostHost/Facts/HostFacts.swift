// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux

/// Requirements: what must hold of the machine, and what becomes of runs when it no longer does.
extension Host {
    /// Tokens of the reactor that belong to facts; those of workers are far below.
    private static let factTokens: UInt64 = 1 << 48

    /// Begins to watch what some task may require, and nothing else.
    func startFacts() {
        let wanted = configuration.manifest.tasks.reduce(into: RequirementSet()) { all, task in
            all.formUnion(task.requirements)
            // What Apple's processing requests can ask for.
            if task.kind == .processing { all.formUnion([.externalPower, .network]) }
        }
        guard !wanted.isEmpty else { return }
        watched = wanted
        let sources =
            configuration.factSources?(wanted)
            ?? FactSettings(storage: configuration.stateDirectory)
            .sources(for: wanted, spawner: spawner)
        do {
            let facts = try MachineFacts(
                sources: sources,
                reactor: reactor,
                tokens: Self.factTokens
            )
            self.facts = facts
            factsChanged(try facts.start(now: moment))
        } catch {
            log.write(
                .error,
                "facts.failed",
                "what tasks require cannot be watched, so it counts as unknown: \(error.description)"
            )
        }
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

    private var moment: FactMoment { FactMoment(monotonic: now, unix: WallClock.now) }

    private func factsChanged(_ changed: RequirementSet) {
        guard let facts else { return }
        if facts.deadline != .max, facts.deadline != armedFacts {
            armedFacts = facts.deadline
            arm(facts.deadline, token: TimerToken.facts.raw)
        }
        guard !changed.isEmpty else { return }
        for requirement in changed.each {
            let fact = facts.sheet[requirement]
            log.write(
                .info,
                "fact.changed",
                "\(requirement.name(probes: [])): \(fact.value) (\(fact.reading), \(fact.source))"
            )
        }
        stopRunsThatLost(facts.sheet)
        for index in book.entries.indices {
            let requests = book.entries[index].requests
            guard requests.contains(where: { !required(by: $0, index).isDisjoint(with: changed) })
            else { continue }
            book.retry(entry: index, now: WallClock.now)
        }
        dispatch()
    }

    private func stopRunsThatLost(_ sheet: FactSheet) {
        for number in runs.numbers {
            guard let index = runs.index(of: number), let run = runs[index],
                !run.request.isSimulated
            else { continue }
            let task = configuration.manifest.tasks[run.handler]
            let lost = task.loss.stopping(
                task.requirements.union(run.request.requirements),
                given: sheet
            )
            guard !lost.isEmpty else { continue }
            let names = lost.each.map { $0.name(probes: []) }.joined(separator: ", ")
            run.record.message = "it lost what it requires: \(names)"
            handle(.stop(.condition), of: number)
        }
    }

    private func required(by request: Request, _ entry: Int) -> RequirementSet {
        required(by: request, definition: book.entries[entry].definition)
    }

    private func required(by request: Request, definition: Int) -> RequirementSet {
        request.requirements.union(configuration.manifest.tasks[definition].requirements)
    }

    /// What a request requires and the machine does not offer now.
    func unmet(_ request: Request, definition: Int) -> [UnmetRequirement] {
        let required = required(by: request, definition: definition)
        guard !required.isEmpty else { return [] }
        // Without a watch everything is unknown.
        return (facts?.sheet ?? FactSheet(probes: [])).unmet(required)
    }
}

extension UnmetRequirement {
    /// What is wanted and what there is, for people.
    var sentence: String {
        "\(name): \(wanted) is wanted; \(source) says \(reading.isEmpty ? "\(value)" : reading)"
    }
}

extension RequirementSet {
    /// Reads `BG_NEEDS_*`; `nil` if there is a bit that this host does not know.
    init?(needs: UInt32) {
        self = []
        var rest = needs
        for (bit, requirement) in [(UInt32(1), Self.network), (2, .externalPower), (4, .unmetered)]
        where needs & bit != 0 {
            formUnion(requirement)
            rest &= ~bit
        }
        guard rest == 0 else { return nil }
    }
}
