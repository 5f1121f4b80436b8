// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// The resources that a process and its descendants use together.
///
/// Measuring takes long if there are many threads, so do it on a thread that may wait.
package struct ProcessTree: Equatable, Sendable {
    /// The number of processes, counted up to one more than `processesMax`.
    package private(set) var processes = 0
    /// The memory that would be freed with them, bytes.
    ///
    /// Shared memory counts once where the kernel reports it (`smaps_rollup`), otherwise once for
    /// each process.
    package private(set) var memoryBytes: UInt64 = 0
    /// Processor time, including that of ended processes, nanoseconds.
    package private(set) var cpuNanoseconds: Int64 = 0

    /// Measures a tree.
    ///
    /// - Parameters:
    ///   - pid: the root of the tree, which must not be reaped meanwhile.
    ///   - group: the folder of its control group, from which the processor time is then read.
    ///   - processesMax: the count stops at one process more than this.
    package init(of pid: Int32, group: String?, processesMax: Int) {
        var open = [pid]
        while let next = open.popLast(), processes <= processesMax {
            processes += 1
            memoryBytes += Self.memory(of: next) ?? 0
            cpuNanoseconds += Self.processorTime(of: next)
            open.append(contentsOf: childPIDs(of: next))
        }
        // The group's time includes processes that have ended.
        if let group, let used = Self.processorTime(ofGroup: group) { cpuNanoseconds = used }
    }

    /// The processor time of a group and of all processes that were in it, nanoseconds; `nil` if it
    /// cannot be read.
    package static func processorTime(ofGroup group: String) -> Int64? {
        value(of: "usage_usec", in: "\(group)/cpu.stat").map { Int64(clamping: $0) &* 1000 }
    }

    /// The proportional set size, or the memory that is not backed by files where that cannot be
    /// read.
    private static func memory(of pid: Int32) -> UInt64? {
        if let share = value(of: "Pss:", in: "/proc/\(pid)/smaps_rollup") { return share << 10 }
        let status = "/proc/\(pid)/status"
        guard let anonymous = value(of: "RssAnon:", in: status) else { return nil }
        return (anonymous + (value(of: "RssShmem:", in: status) ?? 0)) << 10
    }

    /// The processor time of the process and of its children that have ended and been reaped.
    private static func processorTime(of pid: Int32) -> Int64 {
        var own: Int64 = 0
        if bgs_cpu_ns(pid, &own) != 0 { own = 0 }
        guard let text = readFile("/proc/\(pid)/stat", bytesMax: 4096),
            let name = text.lastIndex(of: UInt8(ascii: ")"))
        else { return own }
        let fields = text[(name + 1)...].split(separator: UInt8(ascii: " "))
        // The fields cutime and cstime; the state is the first field after the name.
        guard fields.count > 14, let user = decimal(fields[13]), let system = decimal(fields[14])
        else { return own }
        let tick = 1_000_000_000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return own + Int64(clamping: user + system) &* tick
    }

    /// The first number on the line that starts with a key.
    private static func value(of key: String, in path: String) -> UInt64? {
        guard let text = readFile(path, bytesMax: 8192) else { return nil }
        let key = Array(key.utf8)
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: key) {
            return line.dropFirst(key.count).split { $0 == UInt8(ascii: " ") || $0 == 9 }.first
                .flatMap { decimal($0) }
        }
        return nil
    }
}

extension ChildProcess {
    /// Whether the process has children.
    ///
    /// The time for this does not grow with the number of its threads.
    ///
    /// A process with too many threads counts as having children.
    ///
    /// - Parameter group: the folder of its control group, if it has one.
    package func hasChildren(group: String?) -> Bool {
        if let group, let text = readFile("\(group)/cgroup.procs", bytesMax: 256) {
            return text.split(separator: UInt8(ascii: "\n")).count > 1
        }
        return childPIDs(of: pid, threadsMax: Self.threadsMax)?.isEmpty != true
    }

    private static var threadsMax: Int { 64 }
}
