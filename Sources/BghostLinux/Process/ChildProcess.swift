// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// How a process ended, and the resources that it used.
package struct ProcessExit: Equatable, Sendable {
    package let exited: Bool
    /// The exit code, or the signal number.
    package let code: Int32
    package let cpuNanoseconds: Int64
    /// The highest resident memory that was measured, bytes; `nil` if it was never measured.
    package let peakMemoryBytes: UInt64?
}

/// A child process that leads its own process group.
///
/// Its pidfd ensures that a reused process id never refers to another process.
package final class ChildProcess {
    package let pid: Int32
    package let pidfd: Int32
    /// The `cgroup.kill` file of the child's own cgroup v2 group, if it has one.
    package var groupKillPath: String?
    /// The `cpu.max` file of that group, if its processor time is limited.
    package var quotaPath: String?
    /// Whether the child was handed over to be reaped; from then on another process may have its
    /// id.
    private var isGivenUp = false
    private var isKilled = false
    private var statm: Int32 = -1
    /// Writes the files of the group; `nil` has the calling thread do it.
    private let groupWriter: Spawner?
    private let inheritedPeakBytes: Int64
    /// The highest resident memory measured so far.
    private var peakSeen: UInt64?
    /// The thread that showed its memory last, after the first one had ended.
    private var livingThread: Int32?

    /// Takes ownership of the pidfd.
    ///
    /// - Parameter groupWriter: writes the files of the child's group. The kernel makes that wait for all other
    ///   changes of groups, seconds on a busy machine.
    package init(_ spawned: Spawner.Spawned, groupWriter: Spawner? = nil) {
        self.groupWriter = groupWriter
        pid = spawned.pid
        pidfd = spawned.pidfd
        inheritedPeakBytes = spawned.inheritedPeakBytes
    }

    deinit {
        close(pidfd)
        if statm >= 0 { close(statm) }
    }

    /// Sends SIGKILL to the child, its process group and, on the group's writer, its cgroup.
    ///
    /// Does nothing once the child has been handed over to be reaped.
    package func kill() {
        guard !isGivenUp else { return }
        isKilled = true
        // Both fail only if the process is gone; the pidfd excludes another process.
        _ = Glibc.kill(-pid, SIGKILL)
        _ = bgs_pidfd_signal(pidfd, SIGKILL)
        // A killed process needs processor time to die: with every core busy, or with a niced
        // worker, that takes longer than the signal. Every thread must die before the process is
        // gone, and the last one frees its memory. So make the threads real-time ones; the kernel
        // refuses that without CAP_SYS_NICE.
        _ = bgs_realtime_threads(pid)
        killControlGroup()
    }

    /// Kills the remaining processes of the child's process group, and marks the child as handed
    /// over: from then on it may be reaped at any time.
    package func giveUp() {
        guard !isGivenUp else { return }
        // Until the child is reaped, no other process group can have its number. Usually the group
        // is empty, and the call fails.
        _ = Glibc.kill(-pid, SIGKILL)
        // If the cgroup was killed before, it is still empty: only the daemon moves processes into
        // it.
        if !isKilled { killControlGroup() }
        isGivenUp = true
    }

    private func killControlGroup() {
        guard let groupKillPath else { return }
        let write: @Sendable () -> Void = { [quotaPath] in
            // Dying takes processor time, for which a limited group would have to wait.
            if let quotaPath { writeFile(quotaPath, "max") }
            writeFile(groupKillPath, "1")
        }
        if let groupWriter { groupWriter.perform(write) } else { write() }
    }

    /// Reaps the child on this thread, which must not be a real-time thread.
    package func collectHere() { Spawner.collectHere(pid) }
    /// How the child ended, if it has ended.
    ///
    /// This does not reap it. While it reaps, the kernel removes the child's entries from /proc in
    /// a loop that waits for the child's last threads without sleeping; a real-time thread would
    /// keep the processor from those very threads.
    package var exit: ProcessExit? {
        var end = bgs_exit()
        guard bgs_exit_of(pidfd, &end) == 1 else { return nil }
        return ProcessExit(
            exited: end.exited != 0,
            code: end.code,
            cpuNanoseconds: end.cpu_ns,
            // The kernel counts pages in batches per processor; the margin of 1 MiB allows for
            // that.
            peakMemoryBytes: end.peak_bytes > inheritedPeakBytes + 1 << 20
                ? UInt64(end.peak_bytes) : peakSeen
        )
    }

    /// The processor time used so far, nanoseconds; `nil` once the process is gone.
    package var cpuNanoseconds: Int64? {
        var used: Int64 = 0
        return bgs_cpu_ns(pid, &used) == 0 ? used : nil
    }

    /// Measures the resident memory and what is in swap, bytes.
    package func sampleMemory() -> UInt64? {
        guard var used = residentBytes else { return nil }
        var folder = "/proc/\(pid)"
        // If the first thread has ended, the process's own file shows no memory; the file of any other thread
        // does. Remember that thread: to list the threads takes the longer, the more there are.
        if used == 0 {
            let thread = ProcessThreads.living(
                of: pid,
                known: livingThread,
                threadsMax: Self.threadsMax
            )
            livingThread = thread?.id
            used = thread?.residentBytes ?? 0
            if let livingThread { folder += "/task/\(livingThread)" }
        }
        used += ProcessMemory.swapped(folder)
        peakSeen = max(peakSeen ?? 0, used)
        return used
    }

    private static func residentBytes(_ statm: some Collection<UInt8>) -> UInt64? {
        let fields = statm.split(separator: UInt8(ascii: " "))
        guard fields.count > 1 else { return nil }
        return decimal(fields[1]).map { $0 * UInt64(getpagesize()) }
    }

    private var residentBytes: UInt64? {
        if statm < 0 { statm = open("/proc/\(pid)/statm", O_RDONLY | O_CLOEXEC) }
        guard statm >= 0 else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { buffer in
            let count = pread(statm, buffer.baseAddress, 128, 0)
            guard count > 0 else { return nil }
            return Self.residentBytes(buffer.prefix(count))
        }
    }

    /// The highest resident memory so far, according to the kernel, bytes.
    package var peakResidentBytes: UInt64? {
        guard let status = readFile("/proc/\(pid)/status", bytesMax: 4096) else { return nil }
        let key = Array("VmHWM:".utf8)
        for line in status.split(separator: UInt8(ascii: "\n")) where line.starts(with: key) {
            return decimal(line.dropFirst(key.count).filter { (48...57).contains($0) })
                .map { $0 * 1024 }
        }
        return nil
    }

    /// Whether the process is exiting but cannot be reaped yet.
    ///
    /// A process closes its descriptors before it ends, and the rest can take a while. A process of
    /// which only the first thread has ended looks similar; it is not exiting.
    package var isEnding: Bool {
        var isEnding = true
        ProcessThreads.forEach(of: pid) { thread in
            isEnding = self.isEnding(thread)
            return isEnding
        }
        return isEnding
    }

    private func isEnding(_ thread: Int32) -> Bool {
        guard let text = readFile("/proc/\(pid)/task/\(thread)/stat", bytesMax: 4096),
            // The process name comes before that and may contain any characters.
            let name = text.lastIndex(of: UInt8(ascii: ")"))
        else { return true }
        let fields = text[(name + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 6, let flags = decimal(fields[6]) else { return false }
        return flags & Self.exiting != 0
    }

    /// PF_EXITING of the kernel.
    private static let exiting: UInt64 = 4
}

/// The children of all threads of a process.
package func childPIDs(of pid: Int32) -> [Int32] {
    childPIDs(of: pid, threadsMax: .max) ?? []
}

/// - Returns: `nil` if the process has more threads than `threadsMax`; each thread costs a file
///   read.
func childPIDs(of pid: Int32, threadsMax: Int) -> [Int32]? {
    var found: [Int32] = []
    var threads = 0
    ProcessThreads.forEach(of: pid) { thread in
        threads += 1
        guard threads <= threadsMax else { return false }
        let text = readFile("/proc/\(pid)/task/\(thread)/children", bytesMax: 64 << 10) ?? []
        for field in text.split(separator: UInt8(ascii: " ")) {
            if let child = decimal(field) { found.append(Int32(truncatingIfNeeded: child)) }
        }
        return true
    }
    return threads > threadsMax ? nil : found
}

func decimal(_ digits: some Sequence<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    var isEmpty = true
    for digit in digits {
        guard (48...57).contains(digit) else { return nil }
        isEmpty = false
        value = value &* 10 &+ UInt64(digit - 48)
    }
    return isEmpty ? nil : value
}
