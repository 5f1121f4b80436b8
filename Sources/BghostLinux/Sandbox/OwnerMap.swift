// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// Namespaces that say who owns files, for a mount of their own.
///
/// So what the daemon, as root, puts into a plugin's folder is the plugin's, and what the plugin writes
/// is root's for everybody else: no file ever belongs to the user that a worker is.
package enum OwnerMap {
    /// A namespace in which `user` owns what belongs to root.
    ///
    /// Needs root; costs a process that lives for a tenth of a millisecond.
    ///
    /// - Returns: its descriptor, the caller's, or a negative `errno`.
    package static func make(_ user: UInt32) -> Int32 { bgs_owner_map(user) }
}
