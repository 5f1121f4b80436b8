// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How many bytes an attempt has moved, and when it moved the last one.
///
/// The connection and the file code count the bytes; the engine reads the meter when it checks
/// whether the attempt still progresses.
final class TransferMeter: Sendable {
    private let moved = Atomic<UInt64>(0)
    private let last: Atomic<UInt64>
    /// Bytes added as progress while the attempt works on the disk.
    private let credit = Atomic<UInt64>(0)
    private let isAtDisk = Atomic(false)
    private let clock: any TransferClock

    init(clock: any TransferClock) {
        self.clock = clock
        last = Atomic(clock.now)
    }

    var bytes: UInt64 { moved.load(ordering: .relaxed) }

    /// The progress of the attempt: bytes moved, and when the last byte moved, in nanoseconds of
    /// the engine's clock.
    func progress() -> (bytes: UInt64, lastMove: UInt64) {
        if isAtDisk.load(ordering: .relaxed) {
            credit.add(1 << 20, ordering: .relaxed)
            last.store(clock.now, ordering: .relaxed)
        }
        return (bytes &+ credit.load(ordering: .relaxed), last.load(ordering: .relaxed))
    }

    /// Marks the start of the work on the disk.
    ///
    /// From here on no bytes move over the network, and the idle timeout does not apply.
    func goToDisk() { isAtDisk.store(true, ordering: .relaxed) }

    func add(_ bytes: Int) {
        moved.add(UInt64(bytes), ordering: .relaxed)
        last.store(clock.now, ordering: .relaxed)
    }
}
