// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// What a worker does to itself before it loads foreign code.
package enum WorkerLimitSetting {
    /// Limits in the kernel's units; 0 leaves one as it is.
    package static func apply(
        addressSpaceBytes: UInt64,
        cpuSeconds: UInt32,
        descriptors: UInt32,
        processes: UInt32
    ) {
        _ = bgs_limit(BGS_LIMIT_CORE, 0)
        if descriptors > 0 { _ = bgs_limit(BGS_LIMIT_DESCRIPTORS, UInt64(descriptors)) }
        // Counts all processes of the user, and nothing for root: a backstop behind the daemon's own
        // count of the worker's tree. It must leave room for what the user runs besides.
        if processes > 0 { _ = bgs_limit(BGS_LIMIT_PROCESSES, UInt64(processes) + 4096) }
        if cpuSeconds > 0 { _ = bgs_limit(BGS_LIMIT_CPU, UInt64(cpuSeconds)) }
        if addressSpaceBytes > 0 { _ = bgs_limit(BGS_LIMIT_ADDRESS_SPACE, addressSpaceBytes) }
    }
}

/// Ties a worker to its daemon.
package enum WorkerTether {
    /// Makes the kernel kill this process when the daemon's spawner thread ends, and ends it at once
    /// if the daemon is gone already or descriptors besides the first `count` are open.
    package static func attach(parent: Int32, descriptors count: Int32) {
        _ = bgs_die_with_parent()
        // Without this look, a daemon that died before the line above would leave an orphan.
        if getppid() != parent { _exit(0) }
        // What a plugin starts cannot leave the worker's tree by letting its own parent end, so that
        // it is counted, and is told apart from what other workers started.
        _ = bgs_become_subreaper()
        _ = bgs_close_from(count)
        umask(0o077)
        _ = chdir("/")
    }
}
