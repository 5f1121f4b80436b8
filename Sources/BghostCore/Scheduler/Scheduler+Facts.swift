// SPDX-License-Identifier: Apache-2.0

/// Requirements: what must hold of the machine, and what becomes of runs when it no longer does.
extension Scheduler {
    /// Facts of the machine have changed.
    ///
    /// - Parameters:
    ///   - facts: all of them.
    ///   - changed: those that have another value.
    package mutating func factsChanged(
        _ facts: FactSheet,
        _ changed: RequirementSet,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(
            .factsChanged(probes: facts.probes, facts: facts.all, changed: changed),
            at: now
        )
        gates.facts = facts
        guard !changed.isEmpty else { return }
        stopRunsThatLost(facts, &effects)
        for index in book.entries.indices {
            let entry = book.entries[index]
            let isConcerned = entry.requests.contains {
                !gates.required(by: $0, task: entry.definition).isDisjoint(with: changed)
            }
            if isConcerned { book.retry(entry: index, now: now.unix) }
        }
        beginWhatCan(now: now, &effects)
    }

    private func stopRunsThatLost(_ facts: FactSheet, _ effects: inout [SchedulerEffect]) {
        for (ticket, run) in running.all where !run.request.isSimulated {
            let lost = catalog.tasks[run.task].loss.stopping(
                gates.required(by: run.request, task: run.task),
                given: facts
            )
            guard !lost.isEmpty else { continue }
            let names = lost.each.map { $0.name(probes: facts.probes) }.joined(separator: ", ")
            effects.append(.stop(ticket, .condition, why: "it lost what it requires: \(names)"))
        }
    }
}
