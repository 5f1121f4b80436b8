// SPDX-License-Identifier: Apache-2.0

/// The permissions of a member of the control group.
package enum ControlRole: String, Codable, Equatable, Sendable, CaseIterable {
    /// Read everything, change nothing.
    case read
    /// Everything that the user who runs the daemon may do.
    case operate
}
