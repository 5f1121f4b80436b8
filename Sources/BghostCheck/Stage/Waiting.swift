// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc

/// Looks again and again until something holds.
///
/// For what the kernel or the plugin does in its own time and tells nobody.
func settles(within milliseconds: UInt64, _ holds: () -> Bool) -> Bool {
    let end = Monotonic.now + milliseconds * 1_000_000
    while !holds() {
        guard Monotonic.now < end else { return false }
        usleep(5000)
    }
    return true
}

/// Gives threads of the plugin that nobody knows of the time to do what they must not.
func grantTime(milliseconds: UInt32) { usleep(milliseconds * 1000) }
