// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// Protects this process against other processes of the same user.
package enum ProcessShield {
    /// From now on only root can trace this process or read its memory, environment and
    /// descriptors.
    ///
    /// The process also writes no core file.
    ///
    /// If the daemon runs as an ordinary user, its workers have the same user. Programs that this
    /// process starts are not protected.
    package static func raise() { _ = bgs_not_dumpable() }
}
