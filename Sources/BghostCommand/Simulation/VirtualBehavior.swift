// SPDX-License-Identifier: Apache-2.0

internal import BghostSimulation

/// The behavior of simulated handlers.
enum VirtualBehavior: String, Equatable, Sendable, CaseIterable {
    /// All runs succeed, within half of their runtime.
    case perfect
    /// A few runs fail, crash or overrun.
    case usual
    /// Every second run fails in some way.
    case hostile

    var behavior: HandlerBehavior {
        switch self {
        case .perfect: HandlerBehavior(failing: 0, crashing: 0, overrunning: 0, ignoring: 0)
        case .usual: .usual
        case .hostile: .hostile
        }
    }
}
