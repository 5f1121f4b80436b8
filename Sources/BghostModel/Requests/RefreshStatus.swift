// SPDX-License-Identifier: Apache-2.0

/// Whether background work of a plugin may start, as reported to its handlers.
package enum RefreshStatus: Equatable, Sendable {
    case available
    /// The operator has disabled the plugin: submissions are refused.
    case denied
    /// Not at this time: submissions are accepted, and their requests wait.
    case restricted(Restrictions)

    /// The conditions that block all runs of a plugin and kind, independent of the requirements of tasks.
    ///
    /// Raw values are those of `BG_RESTRICTED_*`. Bits 4 (maintenance) and 16 (pressure) are reserved in the
    /// ABI; no version of bghost uses them.
    package struct Restrictions: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The battery is low, and the manifest's `powerPolicy` blocks refresh tasks.
        package static let lowBattery = Restrictions(rawValue: 1)
        /// The daemon is stopping.
        package static let drain = Restrictions(rawValue: 2)
        /// The plugin has used up its runtime budget of the day.
        package static let budget = Restrictions(rawValue: 8)

        fileprivate var text: String {
            [(Self.lowBattery, "lowBattery"), (.drain, "drain"), (.budget, "budget")]
                .filter { contains($0.0) }.map(\.1).joined(separator: ", ")
        }
    }

    /// - Parameter isDenied: whether the operator has disabled the plugin.
    package init(isDenied: Bool, _ restrictions: Restrictions) {
        self = isDenied ? .denied : restrictions.isEmpty ? .available : .restricted(restrictions)
    }

    /// The status in words, such as `restricted (lowBattery, drain)`.
    package var text: String {
        switch self {
        case .available: "available"
        case .denied: "denied"
        case .restricted(let restrictions): "restricted (\(restrictions.text))"
        }
    }

    /// The value of `BG_REFRESH_*`.
    package var code: UInt32 {
        switch self {
        case .available: 1
        case .denied: 2
        case .restricted: 3
        }
    }

    /// The value of `BG_RESTRICTED_*`.
    package var reasons: UInt32 {
        if case .restricted(let restrictions) = self { restrictions.rawValue } else { 0 }
    }
}
