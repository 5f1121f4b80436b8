// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The memory that the daemon holds for one plugin, counted against one limit.
///
/// A new version of the plugin takes over the count.
///
/// - Fetches, their answers, and lists: refused at the limit with `BG_E_LIMIT`.
/// - Requests that the plugin submitted (being stored, or pending for their first or next run) and
///   their identifiers: refused at the limit with `BG_E_LIMIT`.
/// - Checkpoints: refused at the limit with `BG_E_LIMIT`. They are in the store, not in memory; they count
///   so that a plugin cannot fill the disk.
/// - Frames that a worker has not read: counted. Above 1 MiB for one socket, the daemon kills the
///   worker.
/// - Running runs (parameters, result, message, end of the output): counted. Each is bounded.
///
/// The daemon counts also what it cannot refuse, so that it refuses the rest earlier.
/// docs/ISOLATION.md lists the memory with separate bounds: log lines, transfers, notifications,
/// identifiers of dead letters, and transactions that are not yet on the disk.
///
/// Any thread may use it.
package final class HeldBytes: Sendable {
    package let limit: Int
    private let bytes = Atomic(0)
    /// The part held by requests in the scheduler and by checkpoints, as of the last update.
    private let requests = Atomic(0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// All bytes that are held, requests included.
    package var count: Int {
        bytes.load(ordering: .relaxed) + requests.load(ordering: .relaxed)
    }

    /// Sets the number of bytes that the scheduler's requests hold, and that checkpoints have in the store.
    package func setRequests(_ count: Int) { requests.store(count, ordering: .relaxed) }

    /// Adds bytes unless the sum exceeds the limit.
    ///
    /// - Returns: `false`, with nothing added, if the sum exceeds the limit.
    fileprivate func reserve(_ count: Int) -> Bool {
        var seen = bytes.load(ordering: .relaxed)
        while true {
            guard count <= limit - seen - requests.load(ordering: .relaxed) else { return false }
            let (isDone, now) = bytes.weakCompareExchange(
                expected: seen,
                desired: seen + count,
                ordering: .relaxed
            )
            if isDone { return true }
            seen = now
        }
    }

    /// Counts bytes that are already held, regardless of the limit.
    package func add(_ count: Int) { bytes.add(count, ordering: .relaxed) }

    package func release(_ count: Int) { bytes.subtract(count, ordering: .relaxed) }
}

/// The part of a plugin's held memory that belongs to one call.
///
/// The bytes are returned to the plugin's limit when the last owner releases this object. Any
/// thread may use it.
package final class HeldShare: Sendable {
    private let whole: HeldBytes
    private let bytes = Atomic(0)

    package init(of whole: HeldBytes) {
        self.whole = whole
    }

    deinit { whole.release(bytes.load(ordering: .relaxed)) }

    /// Reserves memory within the plugin's limit.
    ///
    /// - Returns: `false`, with nothing reserved, if the limit does not allow it.
    package func reserve(_ count: Int) -> Bool {
        guard whole.reserve(count) else { return false }
        bytes.add(count, ordering: .relaxed)
        return true
    }

    /// Counts bytes that are already held, regardless of the limit.
    package func add(_ count: Int) {
        whole.add(count)
        bytes.add(count, ordering: .relaxed)
    }
}
