// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostLinux
import Glibc
import Testing

@Suite struct KernelClockTests {
    @Test func `A clock of the past is doubted`() {
        #expect(KernelClock.doubt(unix: 0) == .implausible)
        #expect(KernelClock.doubt(unix: ClockDoubt.oldest) != .implausible)
    }

    /// The clock returns the kernel's state, the same each time; a step of the clock changes it.
    @Test func `The kernel's state is read`() throws {
        var (first, second): (Bool?, Bool?)
        try ClockWitness.look {
            first = KernelClock.isSynchronised
            second = KernelClock.isSynchronised
        }
        #expect(second == first)
    }
}
