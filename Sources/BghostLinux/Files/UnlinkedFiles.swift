// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Deleted files, which use disk space as long as a process has them open or mapped.
package enum UnlinkedFiles {
    /// The disk space that deleted files of some processes and their descendants use on the file
    /// system of a folder, bytes.
    ///
    /// Only root may inspect a worker's open files; the result is 0 if this process may not.
    package static func bytes(of processes: [Int32], with folder: String) -> UInt64 {
        var status = stat()
        guard !processes.isEmpty, stat(folder, &status) == 0 else { return 0 }
        var found: [UInt64: UInt64] = [:]
        var open = processes
        var looked = 0
        while let pid = open.popLast(), looked < processesMax {
            looked += 1
            for place in ["fd", "map_files"] {
                scan("/proc/\(pid)/\(place)", UInt64(status.st_dev), &found)
            }
            open.append(contentsOf: childPIDs(of: pid))
        }
        return found.values.reduce(0, &+)
    }

    /// The most processes that are inspected.
    ///
    /// A plugin with more is ended by its process limit anyway.
    private static let processesMax = 1024

    /// - Parameter found: the bytes of each file, by inode.
    private static func scan(_ path: String, _ device: UInt64, _ found: inout [UInt64: UInt64]) {
        guard let stream = opendir(path) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            var status = stat()
            let isThere = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    fstatat(dirfd(stream), name, &status, 0) == 0
                }
            }
            guard isThere, status.st_nlink == 0, status.st_mode & S_IFMT == S_IFREG,
                UInt64(status.st_dev) == device
            else { continue }
            found[UInt64(status.st_ino)] = UInt64(max(0, status.st_blocks)) * 512
        }
    }
}
