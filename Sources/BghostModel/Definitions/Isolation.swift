// SPDX-License-Identifier: Apache-2.0

/// Where the code of a plugin runs.
package enum Isolation: String, Equatable, Sendable, CaseIterable {
    /// In a process of its own, which the daemon can kill; the default.
    case worker
    /// In the daemon, for trusted code only: the daemon can cancel or abandon its runs, but not
    /// kill them.
    case inProcess = "in-process"
}
