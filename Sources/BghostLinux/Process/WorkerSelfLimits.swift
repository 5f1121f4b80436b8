// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// The limits that a worker sets for itself before it loads the plugin's code.
package enum WorkerLimitSetting {
    /// Sets limits in the kernel's units; 0 leaves a limit unchanged.
    package static func apply(
        addressSpaceBytes: UInt64,
        cpuSeconds: UInt32,
        descriptors: UInt32,
        processes: UInt32
    ) {
        // Each call only lowers a limit, which the kernel permits to every process.
        _ = bgs_limit(BGS_LIMIT_CORE, 0)
        if descriptors > 0 { _ = bgs_limit(BGS_LIMIT_DESCRIPTORS, UInt64(descriptors)) }
        // Counts all processes of the user, and does not apply to root: it is a backstop behind the
        // daemon's own count of the worker's tree. It must leave room for the user's other
        // processes.
        if processes > 0 { _ = bgs_limit(BGS_LIMIT_PROCESSES, UInt64(processes) + 4096) }
        if cpuSeconds > 0 { _ = bgs_limit(BGS_LIMIT_CPU, UInt64(cpuSeconds)) }
        if addressSpaceBytes > 0 { _ = bgs_limit(BGS_LIMIT_ADDRESS_SPACE, addressSpaceBytes) }
        limitSignals()
    }

    /// Limits timers and queued signals.
    ///
    /// The kernel counts them for the user. Without root that is the daemon's user, and the daemon needs a timer
    /// for each worker.
    private static func limitSignals() {
        let signals = __rlimit_resource_t(__RLIMIT_SIGPENDING.rawValue)
        var limit = rlimit()
        guard getrlimit(signals, &limit) == 0 else { return }
        limit.rlim_max = min(limit.rlim_max, signalsMax)
        limit.rlim_cur = limit.rlim_max
        // It only lowers the limit.
        _ = setrlimit(signals, &limit)
    }

    private static let signalsMax: rlim_t = 1024
}

/// Ties a worker to its daemon.
package enum WorkerTether {
    /// Makes the kernel kill this process when the daemon's spawner thread ends.
    ///
    /// It exits at once if the daemon is already gone, and closes all descriptors except the first
    /// `count`.
    package static func attach(parent: Int32, descriptors count: Int32) {
        // The call exists since Linux 2.1.57; only a seccomp filter around the daemon could refuse
        // it. Then the daemon's pidfd and the control group still end the worker.
        _ = bgs_die_with_parent()
        // Without this check, a daemon that died before the line above would leave an orphan.
        if getppid() != parent { _exit(0) }
        // A process that the plugin starts then stays in the worker's tree even if its own parent
        // ends, so that it is counted and can be told from the processes of other workers.
        _ = bgs_become_subreaper()
        if bgs_close_from(count) < 0 { closeEach(from: count) }
        umask(0o077)
        // A process's working folder keeps its file system from being unmounted.
        _ = chdir("/")
    }

    /// Replaces `close_range` on kernels before 5.9 and under filters that refuse it.
    private static func closeEach(from first: Int32) {
        let last = Int32(clamping: sysconf(Int32(_SC_OPEN_MAX)))
        for fd in first..<max(first, min(last, 1 << 16)) { close(fd) }
    }
}
