// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The threads of another process, which share its memory and its open files.
///
/// The folder of a process in `/proc` shows those of its first thread: none, once that thread has ended. The
/// process goes on while it has other threads, and their folders show them.
enum ProcessThreads {
    /// How often another thread is read if the one that was found ends meanwhile.
    static let triesMax = 8

    /// Calls a closure with the id of each thread until the closure returns `false`.
    static func forEach(of pid: Int32, _ body: (Int32) -> Bool) {
        guard let folder = opendir("/proc/\(pid)/task") else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let id = withUnsafeBytes(of: &entry.pointee.d_name) { decimal($0.prefix { $0 != 0 }) }
            guard let id else { continue }
            guard body(Int32(truncatingIfNeeded: id)) else { return }
        }
    }

    /// A thread that shows the memory and the open files of its process.
    ///
    /// - Parameters:
    ///   - known: a thread that did so before; it is tried first.
    ///   - threadsMax: so many others are tried; each costs a file read.
    /// - Returns: `nil` if there is none, as when the process has ended.
    static func living(
        of pid: Int32,
        known: Int32? = nil,
        threadsMax: Int = .max
    ) -> (id: Int32, residentBytes: UInt64)? {
        if let known, let bytes = residentBytes(known, of: pid), bytes > 0 { return (known, bytes) }
        var found: (id: Int32, residentBytes: UInt64)?
        var left = threadsMax
        forEach(of: pid) { id in
            left -= 1
            if let bytes = residentBytes(id, of: pid), bytes > 0 { found = (id, bytes) }
            return found == nil && left > 0
        }
        return found
    }

    /// The resident memory of a process as one of its threads shows it, bytes.
    static func residentBytes(_ thread: Int32, of pid: Int32) -> UInt64? {
        guard let text = readFile("/proc/\(pid)/task/\(thread)/statm", bytesMax: 128) else {
            return nil
        }
        return OwnProcess.residentPages(text).map { $0 * UInt64(max(1, getpagesize())) }
    }
}
