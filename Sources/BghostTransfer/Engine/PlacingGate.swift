// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Decides whether an attempt puts its file in place, or was abandoned before.
///
/// An attempt syncs and hashes its file on a thread that cannot be interrupted, which takes seconds for a large one.
/// Without this gate, a transfer that was cancelled meanwhile would put its file in place later, also over a newer
/// one. Use it on any thread; no call waits.
final class PlacingGate: Sendable {
    private struct State {
        var isClosed = false
        var inode: UInt64?
    }

    private let state = Mutex(State())

    /// The attempt is about to put its file in place.
    ///
    /// - Returns: `false` if it was abandoned; then the file must not appear.
    func pass(inode: UInt64) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.inode = inode
            return true
        }
    }

    /// The attempt is abandoned.
    ///
    /// A file that is being put in place now appears; ``inode`` tells it.
    func close() { state.withLock { $0.isClosed = true } }

    /// The inode of the file that was or is being put in place; `nil` if there is none.
    var inode: UInt64? { state.withLock { $0.inode } }
}
