// SPDX-License-Identifier: Apache-2.0

/// The policy for a run whose requirement is no longer met.
package struct RequirementLoss: Equatable, Sendable {
    /// The action for the run.
    package enum Action: String, Equatable, Sendable, CaseIterable {
        /// Cancel the run, as at the end of its runtime.
        case expire
        case `continue`
    }

    /// The requirements whose loss cancels a run.
    private(set) var expiring: RequirementSet

    /// Creates the default policy.
    package init() {
        expiring = RequirementSet(where: \.cancelsWhenLost)
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

    /// The lost requirements for which a run must be cancelled; empty if it continues.
    ///
    /// - Parameters:
    ///   - wanted: the requirements of the run.
    ///   - facts: the current facts.
    package func stopping(_ wanted: RequirementSet, given facts: FactSheet) -> RequirementSet {
        facts.failing(of: wanted.intersection(expiring))
    }
}
