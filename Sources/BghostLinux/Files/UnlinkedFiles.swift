// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Deleted files, which use disk space as long as a process has them open or mapped.
package enum UnlinkedFiles {
    /// The disk space that deleted files use, bytes: those of some processes and their descendants
    /// on the file system of a folder, and those of the folder that this process has open itself.
    ///
    /// Only root may inspect a worker's open files; they are not counted if this process may not.
    package static func bytes(of processes: [Int32], with folder: String) -> UInt64 {
        var status = stat()
        guard stat(folder, &status) == 0 else { return 0 }
        var found: [UInt64: UInt64] = [:]
        scanOwn(below: folder, &found)
        var open = processes
        var looked = 0
        while let pid = open.popLast(), looked < processesMax {
            looked += 1
            scan(process: pid, UInt64(status.st_dev), &found)
            open.append(contentsOf: childPIDs(of: pid))
        }
        return found.values.reduce(0, &+)
    }

    /// The most processes that are inspected.
    ///
    /// A plugin with more is ended by its process limit anyway.
    private static let processesMax = 1024

    /// Finds the files of a process, also if its first thread has ended.
    ///
    /// - Parameter found: the bytes of each file, by inode.
    private static func scan(process pid: Int32, _ device: UInt64, _ found: inout [UInt64: UInt64])
    {
        var thread = pid
        for _ in 0...ProcessThreads.triesMax {
            // The kernel lists only the first thread in `/proc`, and finds each of them there. Only this folder
            // of a thread has `map_files`.
            for place in ["fd", "map_files"] { scan("/proc/\(thread)/\(place)", device, &found) }
            // A thread that ended before it was read shows no files, or not all.
            if let bytes = ProcessThreads.residentBytes(thread, of: pid), bytes > 0 { return }
            guard let other = ProcessThreads.living(of: pid) else { return }
            thread = other.id
        }
    }

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
            if isThere { note(status, device, &found) }
        }
    }

    /// Finds the files of a folder that this process has open, such as those that it sends for a
    /// plugin, which may delete them meanwhile.
    private static func scanOwn(below folder: String, _ found: inout [UInt64: UInt64]) {
        // The kernel tells paths without links.
        guard let resolved = realpath(folder, nil) else { return }
        defer { free(resolved) }
        let start = UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)) + [separator]
        guard let stream = opendir("/proc/self/fd") else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let number = withUnsafeBytes(of: &entry.pointee.d_name) {
                decimal($0.prefix { $0 != 0 })
            }
            var status = stat()
            guard let number, fstat(Int32(clamping: number), &status) == 0,
                status.st_nlink == 0, path(ofOwn: number).starts(with: start)
            else { continue }
            note(status, UInt64(status.st_dev), &found)
        }
    }

    private static let separator = UInt8(ascii: "/")

    /// The path that a file of this process had when it was deleted; empty if the file is closed.
    private static func path(ofOwn descriptor: UInt64) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            count = start.withMemoryRebound(to: CChar.self, capacity: buffer.count) { start in
                max(0, readlink("/proc/self/fd/\(descriptor)", start, buffer.count))
            }
        }
    }

    /// Counts a file if it is deleted and on the device.
    private static func note(_ status: stat, _ device: UInt64, _ found: inout [UInt64: UInt64]) {
        guard status.st_nlink == 0, status.st_mode & S_IFMT == S_IFREG,
            UInt64(status.st_dev) == device
        else { return }
        found[UInt64(status.st_ino)] = UInt64(max(0, status.st_blocks)) * 512
    }
}
