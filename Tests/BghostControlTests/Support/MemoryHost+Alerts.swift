// SPDX-License-Identifier: Apache-2.0

import BghostAPI

/// The alerts of the host in memory.
extension MemoryHost {
    // MARK: - What tests do

    func show(_ report: AlertReport) { alertReport = report }

    func answerTests(_ tests: Result<[AlertTest], OperatorRefusal>) { alertTests = tests }

    // MARK: - HostControl

    func alerts() -> AlertReport { alertReport }

    func testAlerts() throws(OperatorRefusal) -> [AlertTest] { try alertTests.get() }
}
