// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// A file that only one process at a time can lock.
package enum LockFile {
    /// Opens and locks the file.
    ///
    /// Closing the descriptor releases the lock, once no child process has a copy of it. A child has one
    /// until it executes its program.
    ///
    /// - Parameter wait: how long to wait for another process that holds the lock, milliseconds; the
    ///   calling thread blocks.
    /// - Returns: the descriptor, or a negative error number; `-EAGAIN` if another process holds
    ///   the lock.
    package static func open(_ path: String, wait: Int64 = 0) -> Int32 {
        bgs_lock_file(path, wait)
    }
}
