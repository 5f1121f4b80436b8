// SPDX-License-Identifier: Apache-2.0

package import BghostFacts

/// Which tasks the daemon holds back on a low battery, whatever they require.
package enum PowerPolicy: String, Equatable, Sendable, CaseIterable {
    /// No tasks.
    ///
    /// The default.
    case none
    /// Refresh tasks, as Apple's Low Power Mode does.
    case lowBattery

    /// The requirement that runs of a kind have in addition to their task's.
    package func requirement(of kind: TaskKind) -> RequirementSet {
        self == .lowBattery && kind == .refresh ? .batteryNotLow : []
    }
}
