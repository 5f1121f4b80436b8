// SPDX-License-Identifier: Apache-2.0

@testable import BghostModel
@testable import BghostPolicy
import Testing

@Suite struct RefreshStatusTests {
    @Test func `Without reasons it is available`() {
        #expect(RefreshStatus(isDenied: false, []) == .available)
    }

    @Test func `An operator's denial precedes other reasons`() {
        #expect(RefreshStatus(isDenied: true, [.drain, .budget]) == .denied)
    }

    @Test func `All reasons are reported`() {
        let status = RefreshStatus(isDenied: false, [.lowBattery, .drain, .budget])
        #expect(status.text == "restricted (lowBattery, drain, budget)")
        #expect(status.code == 3 && status.reasons == 11)
    }
}
