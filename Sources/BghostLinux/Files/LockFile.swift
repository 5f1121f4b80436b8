// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// A file that one process at a time can hold.
package enum LockFile {
    /// Opens and locks it without waiting.
    ///
    /// Closing the descriptor gives it up.
    ///
    /// - Returns: the descriptor, or a negative error number; `-EAGAIN` if another process has it.
    package static func open(_ path: String) -> Int32 {
        bgs_lock_file(path)
    }
}
