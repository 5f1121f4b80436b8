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
    func writesAndReads(outcome: Outcome, text: String) {
        #expect(outcome.text == text)
        #expect(Outcome(text: text) == outcome)
    }

    /// A word or a reason that is not among the pairs has no test.
    @Test func eachWordAndReasonIsAmongThePairs() {
        #expect(Set(Self.pairs.map(\.0.word)) == Set(Outcome.Word.allCases))
        let reasons = Self.pairs.compactMap { outcome, _ -> String? in
            guard case .killed(let reason) = outcome else { return nil }
            return String(reason.text.prefix { $0 != "(" })
        }
        #expect(Set(reasons) == Set(KillReason.Word.allCases.map(\.rawValue)))
    }

    @Test(arguments: KillReason.allCases)
    func killReasonsSurvive(reason: KillReason) {
        #expect(Outcome(text: Outcome.killed(reason).text) == .killed(reason))
    }

    @Test(arguments: [
        "", "Succeeded", "succeeded()", "lost(x)", "killed(memory(1))", "memory",
        "killed(protocolFault)", "killed", "killed()", "killed(memory", "killed(memory))",
        "killed(SIGSEGV)",
        "crashed()", "crashed(memory)", "crashed(exit)", "crashed(exit x)", "crashed(signal 0)",
        "crashed(signal -1)", "killed(protocolFault(65536))", "killed(protocolFault())", "lost ",
    ])
    func refuses(text: String) {
        #expect(Outcome(text: text) == nil)
    }

    @Test(arguments: StopReason.allCases)
    func stopReasonsSurvive(reason: StopReason) {
        #expect(StopReason(text: reason.text) == reason)
        #expect(StopReason(text: reason.text + "x") == nil)
    }

    @Test(arguments: [Int32(-1), 0, 32, 64, Int32.max])
    func namesNoSignalThatHasNoName(number: Int32) {
        #expect(SignalName.text(of: number) == "signal \(number)")
    }
}
