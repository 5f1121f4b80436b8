// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// Processor time of the calling thread.
package enum ThreadTime {
    /// Nanoseconds since the thread began.
    package static var now: UInt64 { bgs_thread_cpu_ns() }
}
