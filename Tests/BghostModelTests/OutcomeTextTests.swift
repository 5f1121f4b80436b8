// SPDX-License-Identifier: Apache-2.0

import BghostModel
import Testing

@Suite struct OutcomeTextTests {
    static let pairs: [(Outcome, String)] = [
        (.succeeded, "succeeded"),
        (.failed, "failed"),
        (.cancelledClean, "cancelledClean"),
        (.killed(.graceExceeded), "killed(graceExceeded)"),
        (.killed(.memory), "killed(memory)"),
        (.killed(.cpu), "killed(cpu)"),
        (.killed(.processes), "killed(processes)"),
        (.killed(.output), "killed(output)"),
        (.killed(.startTimeout), "killed(startTimeout)"),
        (.killed(.data), "killed(data)"),
        (.killed(.protocolFault(7)), "killed(protocolFault(7))"),
        (.crashed(.signalled(11)), "crashed(SIGSEGV)"),
        (.crashed(.signalled(6)), "crashed(SIGABRT)"),
        (.crashed(.signalled(31)), "crashed(SIGSYS)"),
        (.crashed(.signalled(40)), "crashed(signal 40)"),
        (.crashed(.exited(3)), "crashed(exit 3)"),
        (.lost, "lost"),
        (.abandoned, "abandoned"),
    ]

    @Test(arguments: pairs)
    func `Writes and reads`(outcome: Outcome, text: String) {
        #expect(outcome.text == text)
        #expect(Outcome(text: text) == outcome)
    }

    /// A word or a reason that is not among the pairs has no test.
    @Test func `Each word and reason is among the pairs`() {
        #expect(Set(Self.pairs.map(\.0.word)) == Set(Outcome.Word.allCases))
        let reasons = Self.pairs.compactMap { outcome, _ -> String? in
            guard case .killed(let reason) = outcome else { return nil }
            return String(reason.text.prefix { $0 != "(" })
        }
        #expect(Set(reasons) == Set(KillReason.Word.allCases.map(\.rawValue)))
    }

    @Test(arguments: KillReason.allCases)
    func `Kill reasons survive`(reason: KillReason) {
        #expect(Outcome(text: Outcome.killed(reason).text) == .killed(reason))
    }

    @Test(arguments: [
        "", "Succeeded", "succeeded()", "lost(x)", "killed(memory(1))", "memory",
        "killed(protocolFault)", "killed", "killed()", "killed(memory", "killed(memory))",
        "killed(SIGSEGV)",
        "crashed()", "crashed(memory)", "crashed(exit)", "crashed(exit x)", "crashed(signal 0)",
        "crashed(signal -1)", "killed(protocolFault(65536))", "killed(protocolFault())", "lost ",
    ])
    func `Texts that are no outcome are refused`(text: String) {
        #expect(Outcome(text: text) == nil)
    }

    @Test(arguments: StopReason.allCases)
    func `Stop reasons survive`(reason: StopReason) {
        #expect(StopReason(text: reason.text) == reason)
        #expect(StopReason(text: reason.text + "x") == nil)
    }

    @Test(arguments: [Int32(-1), 0, 32, 64, Int32.max])
    func `Names no signal that has no name`(number: Int32) {
        #expect(SignalName.text(of: number) == "signal \(number)")
    }
}
