// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// A file that only one process at a time can lock.
package enum LockFile {
    /// Opens and locks the file without waiting.
    ///
    /// Closing the descriptor releases the lock.
    ///
    /// - Returns: the descriptor, or a negative error number; `-EAGAIN` if another process holds
    ///   the lock.
    package static func open(_ path: String) -> Int32 {
        bgs_lock_file(path)
    }
}
