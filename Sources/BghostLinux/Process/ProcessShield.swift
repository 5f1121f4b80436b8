// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// What keeps other processes of the same user out of this one.
package enum ProcessShield {
    /// From now on only root can trace this process, and read its memory, environment and descriptors;
    /// it leaves no core file.
    ///
    /// A worker of an ordinary user is that user too. What this process starts has no shield.
    package static func raise() { _ = bgs_not_dumpable() }
}
