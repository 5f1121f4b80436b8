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
        for index in pendingIndex.entries.indices where pendingIndex.entries.isInUse(index) {
            let entry = pendingIndex.entries[index]
            let isConcerned = entry.requests.contains {
                !gates.watched(for: $0, task: entry.definition).isDisjoint(with: changed)
            }
            if isConcerned { pendingIndex.recheck(entry: index, now: now.unix) }
        }
        startReadyRequests(now: now, &effects)
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
