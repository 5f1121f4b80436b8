// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The resource limits of a worker; `nil` means that bghost sets no limit.
package struct WorkerLimits: Equatable, Sendable {
    /// Resident memory of the worker, bytes.
    ///
    /// The daemon cancels the runs of a worker above this limit, and kills it above
    /// `memoryBytesMax`.
    package var memoryBytes: UInt64?
    /// Processor time of one run.
    ///
    /// The daemon cancels a run above this limit, and kills it above `cpuMax`.
    package var cpu: Duration?
    /// Processor time of a worker, in hundredths of one processor.
    ///
    /// The kernel throttles a worker at this limit; the daemon does not cancel its runs.
    package var cpuQuota: Int?
    /// The maximum number of processes in the worker's tree, including the worker; with 1 it cannot
    /// start another.
    package var processes: Int
    package var descriptors: Int
    /// The maximum that one run may write to stdout, stderr and the log, bytes.
    package var outputBytes: Int
    /// The maximum payload of one run's result, bytes.
    package var resultBytes: Int
    /// The maximum disk space of the data directory, and the maximum size of each file that a
    /// worker writes, bytes.
    package var dataBytes: UInt64
    /// The maximum number of files, folders and links in the data directory.
    package var files: Int

    package init(
        memoryBytes: UInt64? = 256 << 20,
        cpu: Duration? = nil,
        cpuQuota: Int? = nil,
        processes: Int = 1,
        descriptors: Int = 64,
        outputBytes: Int = 64 << 10,
        resultBytes: Int = 64 << 10,
        dataBytes: UInt64 = 1 << 30,
        files: Int = 100_000
    ) {
        self.memoryBytes = memoryBytes
        self.cpu = cpu
        self.cpuQuota = cpuQuota
        self.processes = processes
        self.descriptors = descriptors
        self.outputBytes = outputBytes
        self.resultBytes = resultBytes
        self.dataBytes = dataBytes
        self.files = files
    }

    /// The limit above which a worker is killed at once, bytes: an eighth above `memoryBytes`,
    /// which leaves room to stop.
    package var memoryBytesMax: UInt64? {
        memoryBytes.map { $0.addingReportingOverflow($0 / 8).overflow ? .max : $0 + $0 / 8 }
    }

    /// The limit above which a run is killed at once, nanoseconds: an eighth above `cpu`.
    package var cpuMax: UInt64? { cpu.map { $0.clampedNanoseconds + $0.clampedNanoseconds / 8 } }
}
