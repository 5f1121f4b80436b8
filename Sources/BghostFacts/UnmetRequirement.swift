// SPDX-License-Identifier: Apache-2.0

/// An unmet requirement, with the data that `bghost why` prints.
package struct UnmetRequirement: Equatable, Sendable {
    package var requirement: RequirementSet
    /// The name in the manifest; for a probe, its own name.
    package var name: String
    /// `fails`, or `unknown` if the policy counts that as unmet.
    package var value: FactValue
    /// The current reading, such as `AC online=0`.
    package var reading: String
    /// The wanted reading, such as `online=1 of a mains supply`.
    package var wanted: String
    /// The time of the last change, Unix nanoseconds; `nil` before the first reading.
    var since: Int64?
    /// The source of the reading.
    package var source: String
    /// The last values, the newest first.
    var changes: [Fact.Change]
}

/// The policy for requirements with an unknown value.
package struct UnknownPolicy: Equatable, Sendable {
    /// The requirements that count as met; the others count as unmet.
    var takesAsMet: RequirementSet

    init(takesAsMet: RequirementSet) {
        self.takesAsMet = takesAsMet
    }

    /// The policy for servers.
    static let server = UnknownPolicy(takesAsMet: RequirementSet(where: \.isMetIfUnknown))
    /// All unknown requirements count as unmet.
    static let strict = UnknownPolicy(takesAsMet: [])
}

extension FactSheet {
    /// The unmet requirements among those of a run, in the order of their bits; the run may start if there
    /// are none.
    package func unmet(
        _ wanted: RequirementSet,
        onUnknown policy: UnknownPolicy = .server
    ) -> [UnmetRequirement] {
        wanted.each.compactMap { requirement in
            let fact = self[requirement]
            switch fact.value {
            case .holds: return nil
            case .unknown where policy.takesAsMet.contains(requirement): return nil
            case .unknown, .fails: break
            }
            return UnmetRequirement(
                requirement: requirement,
                name: requirement.name(probes: probes),
                value: fact.value,
                reading: fact.reading,
                wanted: requirement.wanted,
                since: fact.since,
                source: fact.source,
                changes: fact.changes
            )
        }
    }

    /// The requirements of a run that are known to be unmet.
    ///
    /// A requirement whose value has become unknown is not lost.
    func failing(of wanted: RequirementSet) -> RequirementSet {
        wanted.each.reduce(into: []) { failing, requirement in
            if self[requirement].value == .fails { failing.insert(requirement) }
        }
    }
}
