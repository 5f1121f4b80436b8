// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostFacts
package import BghostTerminal

/// The text output for simulations, one line each.
package struct SimulationView {
    package let simulation: SimulationStatus

    package init(_ simulation: SimulationStatus) {
        self.simulation = simulation
    }

    /// - Returns: a line that says so if nothing is simulated.
    package func text(_ style: Style) -> String {
        simulation.isActive ? banner(style) : "nothing is simulated\n"
    }

    /// - Returns: "" if nothing is simulated.
    package func banner(_ style: Style) -> String {
        var lines: [String] = []
        if simulation.clockOffset != 0 {
            let length = HumanText.duration(.nanoseconds(simulation.clockOffset.magnitude))
            let side = simulation.clockOffset > 0 ? "ahead of" : "behind"
            lines.append(
                "the clock is simulated: \(length) \(side) the machine's; `bghost simulate clock real`"
                    + " ends it"
            )
        }
        for fact in simulation.facts {
            let name = TerminalText.escaped(fact.name)
            lines.append(
                "\(name) is simulated: \(fact.value.word); `bghost simulate fact \(name)=real` ends it"
            )
        }
        return lines.map { style.painted("! \($0)", .warning) + "\n" }.joined()
    }
}
