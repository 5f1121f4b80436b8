// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// How a process ended and what the kernel says that it used.
package struct ProcessExit: Equatable, Sendable {
    package let exited: Bool
    /// The exit code, or the signal.
    package let code: Int32
    package let cpuNanoseconds: Int64
    /// The most memory that was resident, as far as anybody has seen; `nil` if nobody has looked.
    package let peakMemoryBytes: UInt64?
}

/// A child that leads a process group of its own, held by pidfd so that its number can never mean
/// another process.
package final class ChildProcess {
    package let pid: Int32
    package let pidfd: Int32
    /// The file of a cgroup v2 group of its own that kills all in it, where there is one.
    package var groupKillPath: String?
    /// The file of that group by which it is slowed down, if it is.
    package var quotaPath: String?
    /// Whether it has been handed over to be collected, after which its number may be another's.
    private var isGivenUp = false
    private var isKilled = false
    private var statm: Int32 = -1
    private let inheritedPeakBytes: Int64
    /// The most memory that was seen.
    private var peakSeen: UInt64?

    /// Takes over the descriptor.
    package init(_ spawned: Spawner.Spawned) {
        pid = spawned.pid
        pidfd = spawned.pidfd
        inheritedPeakBytes = spawned.inheritedPeakBytes
    }

    deinit {
        close(pidfd)
        if statm >= 0 { close(statm) }
    }

    /// Sends SIGKILL to the child, to its process group and to its cgroup.
    ///
    /// Does nothing once it has been handed over to be collected.
    package func kill() {
        guard !isGivenUp else { return }
        isKilled = true
        _ = Glibc.kill(-pid, SIGKILL)
        _ = bgs_pidfd_signal(pidfd, SIGKILL)
        // A victim that never gets a processor cannot die: with every core busy, or with a niced
        // worker, that and not the signal is what takes long. Each of its threads must die for it to
        // be gone, and the last one takes down its memory. Refused without CAP_SYS_NICE.
        _ = bgs_realtime_threads(pid)
        // Dying takes processor time, which one that is slowed down would have to wait for.
        if let quotaPath { writeFile(quotaPath, "max") }
        if let groupKillPath { writeFile(groupKillPath, "1") }
    }

    /// Kills what the child left behind in its process group, and gives up its number: what collects
    /// it may come at once.
    package func giveUp() {
        guard !isGivenUp else { return }
        // Not yet collected, the child still holds the number of its group.
        _ = Glibc.kill(-pid, SIGKILL)
        // Nobody has come into its cgroup since that was killed: only the daemon moves anybody there.
        if let groupKillPath, !isKilled {
            if let quotaPath { writeFile(quotaPath, "max") }
            writeFile(groupKillPath, "1")
        }
        isGivenUp = true
    }

    /// Collects the child on this thread, which must not be a real-time one.
    package func collectHere() {
        _ = bgs_collect(pid)
    }

    /// How the child ended, if it has.
    ///
    /// It is not collected by that: the kernel then takes its entries out of /proc in a loop that
    /// waits for the child's last threads without sleeping, which a real-time thread would win
    /// against those very threads, for as long as it is allowed to run.
    package var exit: ProcessExit? {
        var end = bgs_exit()
        guard bgs_exit_of(pidfd, &end) == 1 else { return nil }
        return ProcessExit(
            exited: end.exited != 0,
            code: end.code,
            cpuNanoseconds: end.cpu_ns,
            // The kernel counts pages a few at a time on each processor: the margin is for that.
            peakMemoryBytes: end.peak_bytes > inheritedPeakBytes + 1 << 20
                ? UInt64(end.peak_bytes) : peakSeen
        )
    }

    /// The processor time used so far, nanoseconds; `nil` once it is gone.
    package var cpuNanoseconds: Int64? {
        var used: Int64 = 0
        return bgs_cpu_ns(pid, &used) == 0 ? used : nil
    }

    /// The memory that is resident now, bytes.
    package func lookAtMemory() -> UInt64? {
        guard var resident = residentBytes else { return nil }
        // A process whose first thread has ended has no memory by its own file, but by its others'.
        if resident == 0 { resident = threadNumbers.lazy.compactMap(residentBytes).max() ?? 0 }
        peakSeen = max(peakSeen ?? 0, resident)
        return resident
    }

    /// The numbers of its threads, as far as they can be seen.
    private var threadNumbers: [String] {
        guard let folder = opendir("/proc/\(pid)/task") else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    private func residentBytes(_ thread: String) -> UInt64? {
        guard let text = readFile("/proc/\(pid)/task/\(thread)/statm", bytesMax: 128) else {
            return nil
        }
        return Self.residentBytes(text)
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

    /// The most memory that was ever resident, bytes.
    package var peakResidentBytes: UInt64? {
        guard let status = readFile("/proc/\(pid)/status", bytesMax: 4096) else { return nil }
        let key = Array("VmHWM:".utf8)
        for line in status.split(separator: UInt8(ascii: "\n")) where line.starts(with: key) {
            return decimal(line.dropFirst(key.count).filter { (48...57).contains($0) })
                .map { $0 * 1024 }
        }
        return nil
    }

    /// Whether it is on its way out, though it cannot be collected yet.
    ///
    /// A process closes what it has open before it is gone, and can take a while for the rest. One
    /// whose first thread alone has ended looks like it, and is not.
    package var isEnding: Bool { threadNumbers.allSatisfy(isEnding) }

    private func isEnding(_ thread: String) -> Bool {
        guard let text = readFile("/proc/\(pid)/task/\(thread)/stat", bytesMax: 4096),
            // Its name, which may be anything, stands before that.
            let name = text.lastIndex(of: UInt8(ascii: ")"))
        else { return true }
        let fields = text[(name + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 6, let flags = decimal(fields[6]) else { return false }
        return flags & Self.exiting != 0
    }

    /// PF_EXITING of the kernel.
    private static let exiting: UInt64 = 4

    /// How many processes live in the child's tree, itself included, counted up to `limit` + 1.
    package func countTree(limit: Int) -> Int {
        var count = 0
        var open = [pid]
        while let next = open.popLast(), count <= limit {
            count += 1
            open.append(contentsOf: childPIDs(of: next))
        }
        return count
    }
}

/// The children of a process, over all of its threads.
package func childPIDs(of pid: Int32) -> [Int32] {
    guard let directory = opendir("/proc/\(pid)/task") else { return [] }
    defer { closedir(directory) }
    var found: [Int32] = []
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        guard Int32(name) != nil,
            let text = readFile("/proc/\(pid)/task/\(name)/children", bytesMax: 64 << 10)
        else { continue }
        for field in text.split(separator: UInt8(ascii: " ")) {
            if let child = decimal(field) { found.append(Int32(truncatingIfNeeded: child)) }
        }
    }
    return found
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
