// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostFacts

/// The simulated facts and the simulated clock.
///
/// A simulation ends with the daemon.
package struct SimulationStatus: Codable, Equatable, Sendable {
    /// A simulated requirement.
    package struct Fact: Codable, Equatable, Sendable {
        /// The requirement's name.
        package var name: String
        /// Whether it counts as met.
        package var value: FactValue

        package init(name: String, value: FactValue) {
            self.name = name
            self.value = value
        }
    }

    /// The simulated requirements.
    @Elements package var facts: [Fact]
    /// How far the daemon's wall clock is ahead of the machine's, nanoseconds; negative if it is behind.
    ///
    /// Whole, since a clock that is off by a rounded number is another clock.
    @OrDefault package var clockOffset: Int64

    private enum CodingKeys: String, CodingKey {
        case facts
        case clockOffset = "clockOffsetNanoseconds"
    }

    package init(facts: [Fact] = [], clockOffset: Int64 = 0) {
        self.facts = facts
        self.clockOffset = clockOffset
    }

    /// Whether anything is simulated.
    package var isActive: Bool { !facts.isEmpty || clockOffset != 0 }
}
