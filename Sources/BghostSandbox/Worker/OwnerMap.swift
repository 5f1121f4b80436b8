// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// Creates user namespaces that map file owners for an id-mapped mount.
///
/// In such a mount, files that the daemon as root puts into a plugin's folder belong to the plugin,
/// and files that the plugin writes belong to root outside. So no file on the disk ever belongs to
/// the worker's user.
enum OwnerMap {
    /// Creates a namespace in which `user` owns root's files.
    ///
    /// It needs root, and costs a process that lives for a tenth of a millisecond.
    ///
    /// - Returns: a descriptor that the caller owns, or a negative `errno`.
    static func make(_ user: UInt32) -> Int32 { bgs_owner_map(user) }
}
