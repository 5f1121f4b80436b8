// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostModel
import BghostPolicy
import Testing

@Suite struct ExplanationTests {
    private let now: Int64 = 1_795_278_664_000_000_000
    private let hour: Int64 = 3_600_000_000_000

    private func explanation(latest: Int64? = nil, _ gates: [Gate]) -> Explanation {
        Explanation(
            request: PendingRequest(
                id: RunID(high: 1, low: 1),
                task: "t",
                submittedAt: now,
                latestBegin: latest
            ),
            gates: gates,
            at: now
        )
    }

    private func gate(
        _ kind: Gate.Kind,
        isOpen: Bool = false,
        until: Int64? = nil,
        if condition: String = ""
    ) -> Gate {
        Gate(kind, isOpen: isOpen, now: "", wanted: "", until: until, condition: condition)
    }

    @Test func `A gate that time unblocks has a certain start`() {
        let why = explanation([
            gate(.notBefore, until: now + hour, if: "it were later"),
            gate(.throttle, until: now + 2 * hour, if: "it were cleared"),
            gate(.slot, isOpen: true),
        ])
        #expect(why.earliestStart == now + 2 * hour)
        #expect(why.isCertain)
        #expect(why.counterfactual == "would start now if it were later and it were cleared")
    }

    @Test func `An unknown gate makes the start a lower bound`() {
        let why = explanation([
            gate(.pluginDisabled, if: "it were on"),
            gate(.notBefore, until: now + hour, if: "it were later"),
            gate(.slot, if: "a slot were free"),
        ])
        #expect(why.earliestStart == now + hour)
        #expect(!why.isCertain)
        #expect(
            why.counterfactual
                == "would start now if it were on, it were later and a slot were free"
        )
    }

    @Test func `One gate is one condition`() {
        let why = explanation([gate(.slot, if: "a slot were free")])
        #expect(why.counterfactual == "would start now if a slot were free")
        #expect(why.earliestStart == now && !why.isCertain)
    }

    @Test func `A request past its latest begin date never starts`() {
        let date = gate(.notBefore, until: now + hour, if: "it were later")
        let late = explanation(latest: now + hour - 1, [date])
        #expect(late.earliestStart == nil && !late.isCertain)
        let inTime = explanation(latest: now + hour, [date])
        #expect(inTime.earliestStart == now + hour && inTime.isCertain)
        let over = explanation(latest: now - 1, [gate(.notAfter), date])
        #expect(over.earliestStart == nil && over.counterfactual == nil)
    }

    @Test func `A request without closed gates starts now`() {
        let why = explanation([gate(.slot, isOpen: true)])
        #expect(why.earliestStart == now && why.isCertain)
        #expect(why.counterfactual == nil)
    }

    @Test func `IDs of a prefix`() throws {
        let id = RunID(high: 0x0193_4567_89AB_CDEF, low: 0x0123_4567_89AB_CDEF)
        let text = id.description
        for length in 1...26 {
            let prefix = text.prefix(length).lowercased()
            #expect(RunID.range(ofPrefix: prefix)?.contains(id) == true, "\(prefix)")
        }
        #expect(RunID.range(ofPrefix: text) == id...id)
        let other = try #require(RunID.range(ofPrefix: text.dropLast() + "0"))
        #expect(!other.contains(id))
        for bad in ["", "U", "8", "a.b", "Ü", text + "0", String(repeating: "0", count: 10_000)] {
            #expect(RunID.range(ofPrefix: bad) == nil, "\(bad.prefix(30))")
        }
    }
}
