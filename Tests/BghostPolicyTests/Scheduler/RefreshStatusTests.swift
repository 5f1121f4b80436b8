// SPDX-License-Identifier: Apache-2.0

@testable import BghostPolicy
import Testing

@Suite struct RefreshStatusTests {
    @Test func withoutReasonsItIsAvailable() {
        #expect(RefreshStatus(isDenied: false, []) == .available)
    }

    @Test func anOperatorsDenialPrecedesOtherReasons() {
        #expect(RefreshStatus(isDenied: true, [.drain, .budget]) == .denied)
    }

    @Test func allReasonsAreReported() {
        let status = RefreshStatus(isDenied: false, [.lowBattery, .drain, .budget])
        #expect(status.text == "restricted (lowBattery, drain, budget)")
        #expect(status.code == 3 && status.reasons == 11)
    }
}
