// SPDX-License-Identifier: Apache-2.0

package import BghostLinux
package import BghostModel
internal import BghostWire
internal import Glibc

extension ControlGroup.Limits {
    /// memory.max is the hard limit; pids.max is a backstop.
    package init(_ limits: WorkerLimits) {
        self.init(
            memoryBytes: limits.memoryBytesMax,
            threads: limits.processes + 1024,
            cpuPercent: limits.cpuQuota
        )
    }
}

/// Checks whether the system allows the descriptors that a manifest requests.
package enum DescriptorLimit {
    /// A warning if RLIMIT_NOFILE of this process is too low; `nil` if it suffices.
    ///
    /// A daemon that is started in the same way has the same limit.
    ///
    /// - Parameter slotCount: how many concurrent runs a worker has.
    package static func warning(_ limits: WorkerLimits, slotCount: Int) -> String? {
        var system = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &system) == 0 else {
            return nil
        }
        let wanted = WorkerRlimits(limits, slotCount: slotCount).descriptors
        guard UInt64(wanted) > UInt64(system.rlim_max) else { return nil }
        return "its workers get \(system.rlim_max) descriptors instead of the \(wanted) that"
            + " `limits.descriptors` and `runsPerWorker` ask for: runs may have no `cancel_fd`; raise"
            + " the daemon's limit (LimitNOFILE= of its unit, or ulimit -n)"
    }
}

extension WorkerRlimits {
    /// Backstops, well above the limits that the daemon itself enforces.
    ///
    /// - Parameter slotCount: concurrent runs. Each needs a descriptor for its cancellation, which is
    ///   not counted against the plugin's limit.
    package init(_ limits: WorkerLimits, slotCount: Int) {
        self.init(
            addressSpaceBytes: limits.memoryBytes.map {
                $0.multipliedReportingOverflow(by: 4).partialValue &+ (2 << 30)
            } ?? 0,
            cpuSeconds: 0,
            descriptors: UInt32(clamping: limits.descriptors + max(0, slotCount - 1)),
            processes: UInt32(clamping: limits.processes)
        )
    }
}
