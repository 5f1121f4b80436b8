// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What an attempt has moved so far, and when last.
///
/// Counted where the bytes pass, and read when the attempt is asked whether it still lives.
final class TransferMeter: Sendable {
    private let moved = Atomic<UInt64>(0)
    private let last: Atomic<UInt64>
    /// What the time at the disk is taken for.
    private let credit = Atomic<UInt64>(0)
    private let isAtDisk = Atomic(false)
    private let clock: any TransferClock

    init(clock: any TransferClock) {
        self.clock = clock
        last = Atomic(clock.now)
    }

    var bytes: UInt64 { moved.load(ordering: .relaxed) }

    /// Says whether it still lives: bytes, and when the last of them moved, nanoseconds of the
    /// engine's clock.
    func pulse() -> (bytes: UInt64, lastMove: UInt64) {
        if isAtDisk.load(ordering: .relaxed) {
            credit.add(1 << 20, ordering: .relaxed)
            last.store(clock.now, ordering: .relaxed)
        }
        return (bytes &+ credit.load(ordering: .relaxed), last.load(ordering: .relaxed))
    }

    /// From here on nothing moves over the network, and the disk has all the time that it needs.
    func goToDisk() { isAtDisk.store(true, ordering: .relaxed) }

    func add(_ bytes: Int) {
        moved.add(UInt64(bytes), ordering: .relaxed)
        last.store(clock.now, ordering: .relaxed)
    }
}
