// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
internal import BghostModel
internal import BghostPolicy
package import BghostServices

/// Simulated facts and a simulated clock, which an operator sets until the daemon stops.
///
/// The host owns it. Use it on the reactor's thread only; it does not block.
package final class SimulationCommands {
    private let dispatcher: Dispatcher
    private let facts: FactWatch
    private let clock: DaemonClock
    private let dates: DateWatch
    private let log: HostLog

    package init(
        _ dispatcher: Dispatcher,
        _ facts: FactWatch,
        _ clock: DaemonClock,
        _ dates: DateWatch,
        log: HostLog
    ) {
        self.dispatcher = dispatcher
        self.facts = facts
        self.clock = clock
        self.dates = dates
        self.log = log
    }

    /// What is simulated.
    package var status: SimulationStatus {
        SimulationStatus(facts: facts.simulations, clockOffset: clock.offset)
    }

    /// Sets a fact, or ends its simulation.
    ///
    /// - Parameter text: the fact and its value, as in `bghost simulate`.
    package func simulate(fact text: String) throws(OperatorRefusal) -> SimulationStatus {
        guard !dispatcher.scheduler.isDraining else {
            throw OperatorRefusal(.unavailable, "bghost is stopping and looks at nothing any more")
        }
        try facts.simulate(text)
        return status
    }

    /// Moves the wall clock, or sets it back to the machine's.
    package func simulate(clock wanted: SimulatedClock) throws(OperatorRefusal) -> SimulationStatus
    {
        do {
            try clock.move(to: wanted)
        } catch {
            throw OperatorRefusal(.badSimulation, error.description)
        }
        log.write(
            .warning,
            "clock.simulated",
            clock.offset == 0
                ? "the clock is the machine's again; all dates are looked at again"
                : "an operator moved the clock to \(Timestamp.text(unixNanoseconds: clock.wall));"
                    + " all dates are looked at again"
        )
        dates.compareAllDates()
        return status
    }
}
