// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostFacts

/// The simulated facts and the simulated clock.
///
/// A simulation ends with the daemon.
package struct SimulationStatus: Equatable, Sendable {
    /// A simulated requirement.
    package struct Fact: Equatable, Sendable {
        /// The requirement's name.
        package var name: String
        package var value: FactValue

        package init(name: String, value: FactValue) {
            self.name = name
            self.value = value
        }
    }

    package var facts: [Fact]
    /// How far the daemon's wall clock is ahead of the machine's, nanoseconds; negative if it is behind.
    package var clockOffset: Int64

    package init(facts: [Fact] = [], clockOffset: Int64 = 0) {
        self.facts = facts
        self.clockOffset = clockOffset
    }

    /// Whether anything is simulated.
    package var isActive: Bool { !facts.isEmpty || clockOffset != 0 }
}
