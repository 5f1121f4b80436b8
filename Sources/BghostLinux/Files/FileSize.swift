// SPDX-License-Identifier: Apache-2.0

internal import Glibc

package enum FileSize {
    /// The size of a file, bytes; `nil` if there is none.
    ///
    /// Any thread may call it. It waits for the disk if the kernel does not know the file.
    package static func of(_ path: String) -> UInt64? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return UInt64(max(0, status.st_size))
    }
}
