// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux

/// Simulated facts and a simulated clock, which an operator sets until the daemon stops.
extension Host {
    /// The current simulation.
    var simulation: SimulationStatus {
        let sheet = facts.sheet
        return SimulationStatus(
            facts: (sheet?.simulations ?? []).compactMap { fact in
                fact.value.map {
                    .init(name: fact.requirement.name(probes: sheet?.probes ?? []), value: $0)
                }
            },
            clockOffset: self.clock.offset
        )
    }

    package func simulate(fact text: String) throws(OperatorRefusal) -> SimulationStatus {
        guard !isDraining else {
            throw OperatorRefusal(.unavailable, "bghost is stopping and looks at nothing any more")
        }
        let fact: SimulatedFact
        do {
            fact = try SimulatedFact(text, probes: facts.probes)
        } catch {
            throw OperatorRefusal(.badSimulation, error.description)
        }
        do {
            try simulate(fact)
        } catch {
            throw OperatorRefusal(.unavailable, "facts cannot be watched: \(error.description)")
        }
        return simulation
    }

    package func simulate(clock: SimulatedClock) throws(OperatorRefusal) -> SimulationStatus {
        do {
            try self.clock.move(to: clock)
        } catch {
            throw OperatorRefusal(.badSimulation, error.description)
        }
        log.write(
            .warning,
            "clock.simulated",
            self.clock.offset == 0
                ? "the clock is the machine's again; all dates are looked at again"
                : "an operator moved the clock to \(Timestamp.text(unixNanoseconds: wall));"
                    + " all dates are looked at again"
        )
        lookAtDates()
        return simulation
    }
}
