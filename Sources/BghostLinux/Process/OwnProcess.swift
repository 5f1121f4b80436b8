// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// What this process uses of the machine.
package struct OwnProcess: Equatable, Sendable {
    /// The processor time of all its threads, nanoseconds.
    package var processorTime: UInt64
    package var residentBytes: UInt64
    package var openDescriptors: Int

    /// Reads it from the kernel, in time that grows with the open descriptors.
    ///
    /// - Returns: `nil` if `/proc` is not mounted.
    package init?() {
        guard let memory = readFile("/proc/self/statm", bytesMax: 256),
            let pages = Self.residentPages(memory),
            let descriptors = Self.countEntries(of: "/proc/self/fd")
        else { return nil }
        processorTime = bgs_process_cpu_ns()
        residentBytes = pages * UInt64(max(1, sysconf(Int32(_SC_PAGESIZE))))
        // The descriptor that reads the folder is one of them.
        openDescriptors = max(0, descriptors - 1)
    }

    /// The variables of this process's environment, each as `NAME=value`.
    ///
    /// No other thread may change them meanwhile.
    package static var environment: [String] {
        var variables: [String] = []
        var next = environ
        while let variable = next.pointee {
            variables.append(String(cString: variable))
            next += 1
        }
        return variables
    }

    /// The second number of the file, in pages.
    static func residentPages(_ text: [UInt8]) -> UInt64? {
        let numbers = text.split(separator: UInt8(ascii: " ")).prefix(2).compactMap { decimal($0) }
        return numbers.count == 2 ? UInt64(exactly: numbers[1]) : nil
    }

    private static func countEntries(of path: String) -> Int? {
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            // "." and ".."; no descriptor's name begins with a point.
            if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
        }
        return count
    }
}
