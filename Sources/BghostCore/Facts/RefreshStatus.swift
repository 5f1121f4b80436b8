// SPDX-License-Identifier: Apache-2.0

/// Whether background work may start, as a plugin is told it.
package enum RefreshStatus: Equatable, Sendable {
    case available
    /// An operator has said no: a submission is refused.
    case denied
    /// Not now: a submission is accepted and waits.
    case restricted([Restriction])

    /// Why not now.
    package enum Restriction: String, Equatable, Sendable, CaseIterable {
        case onBattery
        case drain
        case maintenance
        case budget
        case pressure
    }

    /// What others than the machine say of it.
    package struct Switches: Equatable, Sendable {
        /// Whether an operator has disabled the plugin.
        package var isPluginDisabled = false
        /// Whether an operator has disabled this kind of task.
        package var isKindDisabled = false
        package var isDraining = false
        package var isInMaintenance = false
        /// Whether the plugin has used up its runtime for now.
        package var isBudgetSpent = false

        package init() {}
    }

    /// The status that follows; reasons in the order of `Restriction`.
    package init(_ switches: Switches, given facts: FactSheet) {
        guard !switches.isPluginDisabled, !switches.isKindDisabled else {
            self = .denied
            return
        }
        let reasons = Restriction.allCases.filter { reason in
            switch reason {
            case .onBattery: facts[.externalPower].value == .fails
            case .drain: switches.isDraining
            case .maintenance: switches.isInMaintenance
            case .budget: switches.isBudgetSpent
            case .pressure: facts.isUnderPressure
            }
        }
        self = reasons.isEmpty ? .available : .restricted(reasons)
    }

    /// The status in words, such as `restricted (onBattery, drain)`.
    package var text: String {
        switch self {
        case .available: "available"
        case .denied: "denied"
        case .restricted(let reasons):
            "restricted (\(reasons.map(\.rawValue).joined(separator: ", ")))"
        }
    }
}
