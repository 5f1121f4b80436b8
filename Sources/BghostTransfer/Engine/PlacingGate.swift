// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Decides whether an attempt puts its file in place, or was abandoned before.
///
/// An attempt syncs and hashes its file on a thread that cannot be interrupted, which takes seconds for a large one.
/// Without this gate, a transfer that was cancelled meanwhile would put its file in place later, also over a newer
/// one. Use it on any thread; no call waits.
final class PlacingGate: Sendable {
    private let isDecided = Atomic(false)

    /// The attempt is about to put its file in place.
    ///
    /// - Returns: `false` if it was abandoned; then the file must not appear.
    func pass() -> Bool { !isDecided.exchange(true, ordering: .relaxed) }

    /// The attempt is abandoned.
    ///
    /// A file that is being put in place now appears nevertheless.
    func close() { isDecided.store(true, ordering: .relaxed) }
}
