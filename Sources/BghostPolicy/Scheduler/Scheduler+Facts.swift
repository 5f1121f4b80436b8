// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts
internal import BghostModel

/// The requirements on the machine, and what happens to runs when one is no longer met.
extension Scheduler {
    /// Handles changed facts of the machine.
    ///
    /// - Parameters:
    ///   - facts: all facts.
    ///   - changed: the requirements with a changed value.
    package mutating func factsChanged(
        _ facts: FactSheet,
        _ changed: RequirementSet,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(
            .factsChanged(probes: facts.probes, facts: facts.all, changed: changed),
            at: now
        )
        gates.facts = facts
        guard !changed.isEmpty else { return }
        stopRunsThatLost(facts, &effects)
        let concerned = definitions { [gates] in
            !gates.watched(byTask: $0).isDisjoint(with: changed)
        }
        for entry in pendingIndex.entries.indices where pendingIndex.entries.isInUse(entry) {
            let isConcerned =
                concerned[pendingIndex.entries.kind(entry).definition]
                || !pendingIndex.entries.requirements(entry).isDisjoint(with: changed)
            if isConcerned { pendingIndex.recheck(entry: entry, now: now.unix) }
        }
        startReadyRequests(now: now, &effects)
    }

    /// For each task, whether it has identifiers and a condition holds for it.
    ///
    /// So a search through the identifiers does not evaluate the condition for each.
    func definitions(where isWanted: (_ task: Int) -> Bool) -> [Bool] {
        var wanted = Array(repeating: false, count: catalog.tasks.count)
        for kind in pendingIndex.entries.kindsInUse {
            wanted[kind.definition] = isWanted(kind.definition)
        }
        return wanted
    }

    private func stopRunsThatLost(_ facts: FactSheet, _ effects: inout [SchedulerEffect]) {
        for (handle, run) in running.all where !run.request.isManual {
            let lost = catalog.tasks[run.task].loss.stopping(
                gates.required(by: run.request, task: run.task),
                given: facts
            )
            guard !lost.isEmpty else { continue }
            let names = lost.each.map { $0.name(probes: facts.probes) }.joined(separator: ", ")
            effects.append(.stop(handle, .condition, why: "it lost what it requires: \(names)"))
        }
    }
}
