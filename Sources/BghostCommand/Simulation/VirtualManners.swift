// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// How handlers behave that nobody runs.
package enum VirtualManners: String, Equatable, Sendable, CaseIterable {
    /// All of them succeed, in half of their time at most.
    case perfect
    /// Now and then one fails, crashes or overruns.
    case usual
    /// Every second run goes wrong.
    case hostile

    package var manners: RunManners {
        switch self {
        case .perfect: RunManners(failing: 0, crashing: 0, overrunning: 0, ignoring: 0)
        case .usual: .usual
        case .hostile: .hostile
        }
    }
}
