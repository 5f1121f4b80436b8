// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import Glibc

/// Polls until a condition is true.
///
/// For changes by the kernel or the plugin that cannot be waited for.
func becomesTrue(within milliseconds: UInt64, _ holds: () -> Bool) -> Bool {
    let end = Monotonic.now + milliseconds * 1_000_000
    while !holds() {
        guard Monotonic.now < end else { return false }
        grantTime(milliseconds: 5)
    }
    return true
}

/// Gives unknown threads of the plugin time for forbidden acts.
///
/// The plugin is served meanwhile if the calling thread is lent to it.
func grantTime(milliseconds: UInt32) {
    let end = Monotonic.now + UInt64(milliseconds) * 1_000_000
    while Monotonic.now < end, LentThread.serve(until: end) {}
    let now = Monotonic.now
    if now < end { usleep(UInt32(clamping: end.since(now) / 1000)) }
}
