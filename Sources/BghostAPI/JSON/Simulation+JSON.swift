// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostFacts

extension JSONWriter {
    /// Writes a member that says what is simulated; null if nothing is.
    mutating func member(_ key: String, _ simulation: SimulationStatus) {
        self.key(key)
        guard simulation.isActive else { return null() }
        object { $0.members(simulation) }
    }

    package mutating func members(_ simulation: SimulationStatus) {
        member("facts") { writer in
            writer.array { writer in
                for fact in simulation.facts {
                    writer.object { writer in
                        writer.member("name", fact.name)
                        writer.member("value", fact.value.rawValue)
                    }
                }
            }
        }
        // Whole, since a clock that is off by a rounded number is another clock.
        member("clockOffsetNanoseconds", simulation.clockOffset)
    }
}

extension SimulationStatus {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let facts = json["facts"]?.array else { return nil }
        self.init(
            facts: facts.compactMap { fact in
                guard let name = fact["name"]?.string,
                    let value = fact["value"]?.string.flatMap(FactValue.init(rawValue:))
                else { return nil }
                return Fact(name: name, value: value)
            },
            clockOffset: json["clockOffsetNanoseconds"]?.int64 ?? 0
        )
    }

    /// Of a member that is absent or null if nothing is simulated.
    init(member: JSONNode?) {
        self = member.flatMap(SimulationStatus.init(json:)) ?? SimulationStatus()
    }
}
