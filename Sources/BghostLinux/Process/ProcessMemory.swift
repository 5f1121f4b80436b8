// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
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

    /// The memory of a process that is in swap, bytes.
    ///
    /// A process can have its own memory moved there, and its resident memory does not show it then. This reads a
    /// file of `/proc` only on a machine whose swap has something.
    ///
    /// - Parameter task: the folder of the process, or of one of its threads, in `/proc`.
    static func swapped(_ task: String) -> UInt64 {
        guard bgs_uses_swap() != 0, let status = readFile(task + "/status", bytesMax: 8192)
        else { return 0 }
        return (number("VmSwap:", in: status) ?? 0) << 10
    }

    /// The number on the line that starts with a key.
    static func number(_ key: String, in text: [UInt8]) -> UInt64? {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: key.utf8) {
            return line.dropFirst(key.utf8.count)
                .split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.first
                .flatMap { decimal($0) }
        }
        return nil
    }
}
