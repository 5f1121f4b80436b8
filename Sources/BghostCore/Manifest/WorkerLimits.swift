// SPDX-License-Identifier: Apache-2.0

/// What a worker may use.
///
/// `nil` is no limit of ours.
package struct WorkerLimits: Equatable, Sendable {
    /// Resident memory of the worker, bytes.
    ///
    /// A run that is over it is asked to stop; one beyond `memoryBytesMax` is killed.
    package var memoryBytes: UInt64?
    /// Processor time of one run.
    ///
    /// The same, with `cpuMax`.
    package var cpu: Duration?
    /// Processor time of a worker, in hundredths of one processor's.
    ///
    /// Nobody is asked to stop for it: the kernel lets the worker wait.
    package var cpuQuota: Int?
    /// Processes in the worker's tree, itself included: with 1 it can start none.
    package var processes: Int
    package var descriptors: Int
    /// What one run may write to stdout, stderr and the log, bytes.
    package var outputBytes: Int
    /// The payload of one run's result, bytes.
    package var resultBytes: Int
    /// What the data directory may take of the disk, and each file that a worker writes, bytes.
    package var dataBytes: UInt64
    /// Files, folders and links in the data directory.
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

    /// Above this a worker is killed at once, bytes: what is left to stop in is an eighth.
    package var memoryBytesMax: UInt64? {
        memoryBytes.map { $0.addingReportingOverflow($0 / 8).overflow ? .max : $0 + $0 / 8 }
    }

    /// Beyond this a run is killed at once, nanoseconds.
    package var cpuMax: UInt64? { cpu.map { $0.clampedNanoseconds + $0.clampedNanoseconds / 8 } }
}
