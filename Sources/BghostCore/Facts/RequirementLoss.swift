// SPDX-License-Identifier: Apache-2.0

/// What becomes of a run that loses a requirement while it is under way.
package struct RequirementLoss: Equatable, Sendable {
    /// What to do with the run.
    package enum Action: String, Equatable, Sendable, CaseIterable {
        /// Ask it to stop, as at the end of its runtime.
        case expire
        case `continue`
    }

    /// The requirements without which the run does not go on.
    package private(set) var expiring: RequirementSet

    /// Power and idleness are the machine's owner's to take back, so losing them ends a run; a
    /// network comes and goes, and what uses it waits or fails by itself.
    package init() {
        expiring = [.externalPower, .batteryNotLow, .idle]
    }

    package subscript(requirement: RequirementSet) -> Action {
        get { requirement.isSubset(of: expiring) ? .expire : .continue }
        set {
            switch newValue {
            case .expire: expiring.formUnion(requirement)
            case .continue: expiring.subtract(requirement)
            }
        }
    }

    /// The lost requirements for which a run has to stop; empty if it goes on.
    ///
    /// - Parameters:
    ///   - wanted: what the run requires.
    ///   - facts: what is known now.
    package func stopping(_ wanted: RequirementSet, given facts: FactSheet) -> RequirementSet {
        facts.failing(of: wanted.intersection(expiring))
    }
}
