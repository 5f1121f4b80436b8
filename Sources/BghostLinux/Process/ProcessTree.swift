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
        readFile("\(group)/cpu.stat", bytesMax: 8192)
            .flatMap { ProcessMemory.number("usage_usec", in: $0) }
            .map { Int64(clamping: $0) &* 1000 }
    }

    /// The memory of a process, bytes; `nil` if it has none, as after its end.
    private static func memory(of pid: Int32) -> UInt64? {
        if let bytes = memory(in: "/proc/\(pid)") { return bytes }
        // The thread that is found may end before its memory is read.
        for _ in 0..<ProcessThreads.triesMax {
            guard let thread = ProcessThreads.living(of: pid) else { return nil }
            if let bytes = memory(in: "/proc/\(pid)/task/\(thread.id)") { return bytes }
        }
        return nil
    }

    /// The proportional set size, or the memory that is not backed by files where that cannot be
    /// read; both with what is in swap.
    ///
    /// - Parameter folder: the folder of a process or of a thread in `/proc`.
    private static func memory(in folder: String) -> UInt64? {
        if let text = readFile(folder + "/smaps_rollup", bytesMax: 8192), let bytes = share(text) {
            return bytes
        }
        return readFile(folder + "/status", bytesMax: 8192).flatMap(privateBytes)
    }

    /// - Parameter text: the kernel's `smaps_rollup`.
    static func share(_ text: [UInt8]) -> UInt64? {
        guard let resident = ProcessMemory.number("Pss:", in: text) else { return nil }
        return (resident + (ProcessMemory.number("SwapPss:", in: text) ?? 0)) << 10
    }

    /// - Parameter text: the kernel's `status`.
    static func privateBytes(_ text: [UInt8]) -> UInt64? {
        guard let anonymous = ProcessMemory.number("RssAnon:", in: text) else { return nil }
        let others = ["RssShmem:", "VmSwap:"].compactMap { ProcessMemory.number($0, in: text) }
        return others.reduce(anonymous, +) << 10
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

    /// How many threads are looked at on the calling thread, which is the reactor's.
    static var threadsMax: Int { 64 }
}
