// SPDX-License-Identifier: Apache-2.0

/// A requirement that keeps a run from starting, with all that `bghost why` says of it.
package struct UnmetRequirement: Equatable, Sendable {
    package var requirement: RequirementSet
    /// As in the manifest; a probe by its own name.
    package var name: String
    /// `fails`, or `unknown` where that is not enough.
    package var value: FactValue
    /// What it is now, such as `AC online=0`.
    package var reading: String
    /// What it must be, such as `online=1 of a mains supply`.
    package var wanted: String
    /// Since when, Unix nanoseconds; `nil` if nothing has been read yet.
    package var since: Int64?
    /// Where that is read.
    package var source: String
    /// The last values that it took, the newest first.
    package var changes: [Fact.Change]
}

/// What follows from a requirement of which nothing is known.
package struct UnknownPolicy: Equatable, Sendable {
    /// The requirements that are taken as met; the others wait.
    package var takesAsMet: RequirementSet

    package init(takesAsMet: RequirementSet) {
        self.takesAsMet = takesAsMet
    }

    /// A server's: hardly any knows whether its network costs by the byte, and hardly any does.
    package static let server = UnknownPolicy(takesAsMet: .unmetered)
    /// Waits until all is known.
    package static let strict = UnknownPolicy(takesAsMet: [])
}

extension FactSheet {
    /// Those of the wanted requirements that are not met, in the order of their bits; none means that
    /// a run may start.
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

    /// Those of a run's requirements that are known to be met no longer.
    ///
    /// One of which nothing is known any more is not lost.
    package func failing(of wanted: RequirementSet) -> RequirementSet {
        wanted.each.reduce(into: []) { failing, requirement in
            if self[requirement].value == .fails { failing.insert(requirement) }
        }
    }
}
