// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The limit that a process has on the size of its files (`RLIMIT_FSIZE`).
package enum FileSizeLimit {
    /// Has a write beyond it fail with `EFBIG` from now on.
    ///
    /// By default it kills the process, and with a daemon all that it does for others. What this
    /// process starts is not concerned.
    package static func fail() { signal(SIGXFSZ, SIG_IGN) }
}
