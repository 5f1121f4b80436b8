// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostLinux
import Testing

@Suite struct KernelClockTests {
    @Test func `A clock of the past is doubted`() {
        #expect(KernelClock.doubt(unix: 0) == .implausible)
        #expect(KernelClock.doubt(unix: ClockDoubt.oldest) != .implausible)
    }

    /// The clock returns the kernel's state, the same each time.
    @Test func `The kernel's state is read`() {
        let first = KernelClock.isSynchronised
        #expect(KernelClock.isSynchronised == first)
    }
}
