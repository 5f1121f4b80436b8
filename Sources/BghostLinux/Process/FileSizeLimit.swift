// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// The file size limit of a process (`RLIMIT_FSIZE`).
package enum FileSizeLimit {
    /// Makes writes beyond the limit fail with `EFBIG` in this process.
    ///
    /// By default such a write kills the process, here the daemon. Processes that this process
    /// starts are not affected.
    package static func fail() { signal(SIGXFSZ, SIG_IGN) }

    /// Sets the limit of a child process and its future children.
    ///
    /// Does nothing if the process is gone.
    package static func set(_ bytes: UInt64, of pid: Int32) {
        // This fails only if the daemon's own limit is lower; the child then already has that one.
        _ = bgs_limit_file_size(pid, bytes)
    }
}
