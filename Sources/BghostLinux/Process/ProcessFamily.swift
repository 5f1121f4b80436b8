// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The worker processes of a host; any thread may use it.
package final class ProcessFamily: Sendable {
    private let workers = Mutex<Set<Int32>>([])
    /// Whether orphans of workers become children of this process.
    private let isSubreaper: Bool

    package init(isSubreaper: Bool) { self.isSubreaper = isSubreaper }

    package func add(_ worker: Int32) { workers.withLock { _ = $0.insert(worker) } }

    package func remove(_ worker: Int32) { workers.withLock { _ = $0.remove(worker) } }

    /// Whether a process is a worker or, as far as the kernel shows, a descendant of one.
    ///
    /// A process that no longer exists counts as one.
    package func contains(_ process: Int32) -> Bool {
        // Process 0 is in another PID namespace, and workers are not.
        guard process != 0 else { return false }
        let own = getpid()
        var next = process
        for _ in 0..<Self.depthMax {
            if next == own || next == 1 { return false }
            if workers.withLock({ $0.contains(next) }) { return true }
            guard let status = ProcessStatus(pid: next) else { return true }
            // It is an orphan of a worker, or a worker that is not registered yet. The daemon
            // starts no other process that calls it.
            if status.parent == own, isSubreaper { return true }
            // The parent is the kernel or is outside this PID namespace.
            if status.parent == 0 { return false }
            next = status.parent
        }
        return true
    }

    /// Limit of the parent chain; a deeper process counts as a worker.
    private static let depthMax = 256
}
