// SPDX-License-Identifier: Apache-2.0

/// What a member of the control group may do.
package enum ControlRole: String, Equatable, Sendable, CaseIterable {
    /// Look at everything, and change nothing.
    case read
    /// All that the user may who runs the daemon.
    case operate
}
