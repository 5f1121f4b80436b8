// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The memory of other processes, as the kernel measures it.
package enum ProcessMemory {
    /// The resident memory of a process, bytes; `nil` if there is no such process.
    ///
    /// Any thread may call it. It reads one small file of `/proc`.
    package static func resident(_ pid: Int32) -> UInt64? {
        guard pid > 0, let text = readFile("/proc/\(pid)/statm", bytesMax: 256) else { return nil }
        return OwnProcess.residentPages(text).map {
            $0 * UInt64(max(1, sysconf(Int32(_SC_PAGESIZE))))
        }
    }
}
