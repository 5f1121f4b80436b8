// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostLinux
import Synchronization

/// The wall clock of a test of alerts and the time since boot: both stand still until the test moves them.
final class AlertClock: Sendable {
    private static let second: Int64 = 1_000_000_000

    let now: Mutex<Int64>
    /// The time since boot, nanoseconds: later than that of any machine.
    private let sinceBoot = Mutex<UInt64>(1 << 60)

    init(_ start: Int64) { now = Mutex(start) }

    /// What the machine has slept, so that its monotonic clock, which runs, does not count.
    var slept: UInt64 { sinceBoot.withLock { $0 } - Monotonic.now.nanoseconds }

    /// Lets time pass.
    func move(_ seconds: Int64) {
        set(by: seconds)
        sinceBoot.withLock { $0 += UInt64(seconds * Self.second) }
    }

    /// Sets the wall clock.
    func set(by seconds: Int64) { now.withLock { $0 += seconds * Self.second } }
}
