// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc
internal import Synchronization

/// The processes that a host has started, for those who must know on other threads.
final class ProcessFamily: Sendable {
    private let workers = Mutex<Set<Int32>>([])
    /// Whether orphans of workers become children of this process.
    private let isSubreaper: Bool

    init(isSubreaper: Bool) { self.isSubreaper = isSubreaper }

    func add(_ worker: Int32) { workers.withLock { _ = $0.insert(worker) } }

    func remove(_ worker: Int32) { workers.withLock { _ = $0.remove(worker) } }

    /// Whether a process is a worker, or descends from one as far as the kernel tells.
    ///
    /// One that cannot be looked at any more counts as one.
    func contains(_ process: Int32) -> Bool {
        // In another namespace of processes, where no worker is.
        guard process != 0 else { return false }
        let own = getpid()
        var next = process
        for _ in 0..<Self.depthMax {
            if next == own || next == 1 { return false }
            if workers.withLock({ $0.contains(next) }) { return true }
            guard let status = ProcessStatus(pid: next) else { return true }
            // An orphan that has left its worker, or a worker that is not in the books yet. The daemon
            // itself starts nobody who would have to ask it.
            if status.parent == own, isSubreaper { return true }
            // Of the kernel, or of a namespace above this one.
            if status.parent == 0 { return false }
            next = status.parent
        }
        return true
    }

    /// Nobody who is honest stands below so many others.
    private static let depthMax = 256
}

extension Host {
    /// Whether a process is one of this host's workers, or was started by one.
    ///
    /// Safe on any thread. It reads a few files of the kernel, so it takes some microseconds.
    ///
    /// - Parameters:
    ///   - process: 0 if it is in no namespace of processes that this one can see.
    ///   - user: the one that it had when it connected.
    package nonisolated func isOwnProcess(_ process: Int32, user: UInt32) -> Bool {
        PluginUsers.contain(user) || family.contains(process)
    }
}
