// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux

/// Facts and a clock that are what somebody says, until the daemon's end.
extension Host {
    /// What is simulated now.
    var simulation: SimulationStatus {
        let sheet = facts?.sheet
        return SimulationStatus(
            facts: (sheet?.simulations ?? []).compactMap { fact in
                fact.value.map {
                    .init(name: fact.requirement.name(probes: sheet?.probes ?? []), value: $0)
                }
            },
            clockOffset: clockOffset
        )
    }

    package func simulate(fact text: String) throws(OperatorRefusal) -> SimulationStatus {
        guard !isDraining else {
            throw OperatorRefusal(.unavailable, "bghost is stopping and looks at nothing any more")
        }
        let fact: SimulatedFact
        do {
            fact = try SimulatedFact(text, probes: facts?.sheet.probes ?? [])
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
        let offset: Int64
        do {
            offset = try clock.offset(machine: WallClock.now, offset: clockOffset)
        } catch {
            throw OperatorRefusal(.badSimulation, error.description)
        }
        clockOffset = offset
        log.write(
            .warning,
            "clock.simulated",
            offset == 0
                ? "the clock is the machine's again; all dates are looked at again"
                : "somebody has moved the clock to \(Timestamp.text(unixNanoseconds: wall));"
                    + " all dates are looked at again"
        )
        lookAtDates()
        return simulation
    }
}
