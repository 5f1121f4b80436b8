// SPDX-License-Identifier: Apache-2.0

package import BghostLinux

/// The daemon's threads for work that may block on a disk or take long.
///
/// Each thread is started when it is first needed: most daemons never inspect a process tree. Work on
/// one thread runs in order, so a slow folder delays other folders but no inspection and no limit. Use it
/// on the host's executor only.
package final class BlockingThreads {
    package enum Purpose: Int, CaseIterable {
        /// Measures data directories.
        case data
        /// Reads what the health depends on.
        case health
        /// Reads ended runs and dead letters from the store.
        case history
        /// Inspects and hashes libraries.
        case inspection
        /// Measures process trees.
        case processes
    }

    private var threads = [WorkThread?](repeating: nil, count: Purpose.allCases.count)

    package init() {}

    /// Returns the thread for a purpose, started if necessary.
    ///
    /// - Returns: `nil` if the machine has no thread for it; the caller tries again later.
    package func thread(for purpose: Purpose) -> WorkThread? {
        let thread = threads[purpose.rawValue] ?? WorkThread()
        threads[purpose.rawValue] = thread
        return thread.begin() ? thread : nil
    }

    /// Returns the thread for a purpose if it was ever needed.
    package func existingThread(for purpose: Purpose) -> WorkThread? { threads[purpose.rawValue] }

    /// Ends all threads after their queued work.
    package func end() {
        for thread in threads { thread?.end() }
    }
}
