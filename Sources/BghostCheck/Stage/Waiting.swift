// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import Glibc

/// Polls until a condition is true, for so long in served time.
///
/// For changes by the kernel or the plugin that cannot be waited for.
func becomesTrue(within milliseconds: UInt64, _ holds: () -> Bool) -> Bool {
    let time = ServedTime()
    while true {
        let rest = time.rest(of: milliseconds * 1_000_000)
        if holds() { return true }
        guard rest > 0 else { return false }
        pause(milliseconds: 5)
    }
}

/// Gives unknown threads of the plugin served time for forbidden acts.
///
/// The plugin is served meanwhile if the calling thread is lent to it.
func grantTime(milliseconds: UInt32) {
    let limit = UInt64(milliseconds) * 1_000_000
    let time = ServedTime()
    var rest = limit
    while rest > 0 {
        pause(milliseconds: UInt32(clamping: rest / 1_000_000 + 1))
        rest = time.rest(of: limit)
    }
}

/// Waits for so long, whatever the machine does meanwhile.
///
/// The plugin is served if the calling thread is lent to it.
func pause(milliseconds: UInt32) {
    let end = Monotonic.now + UInt64(milliseconds) * 1_000_000
    while Monotonic.now < end, LentThread.serve(until: end) {}
    let now = Monotonic.now
    if now < end { usleep(UInt32(clamping: end.since(now) / 1000)) }
}
