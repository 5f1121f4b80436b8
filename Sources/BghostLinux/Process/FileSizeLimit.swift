// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// The limit that a process has on the size of its files (`RLIMIT_FSIZE`).
package enum FileSizeLimit {
    /// Has a write beyond it fail with `EFBIG` from now on.
    ///
    /// By default it kills the process, and with a daemon all that it does for others. What this
    /// process starts is not concerned.
    package static func fail() { signal(SIGXFSZ, SIG_IGN) }

    /// Sets it for a process of ours and for what that starts.
    ///
    /// A process that is gone is left alone.
    package static func set(_ bytes: UInt64, of pid: Int32) {
        _ = bgs_limit_file_size(pid, bytes)
    }
}
