// SPDX-License-Identifier: Apache-2.0

@testable import BghostFacts
import BghostTestSupport
import Testing

@Suite struct FactPolicyTests {
    @Test func `Losing power or idleness ends a run and losing the network does not`() {
        let wanted: RequirementSet = [.externalPower, .network, .idle, .storage, .probe(1)]
        var facts = FactSheet()
        for requirement in wanted.each { _ = facts.take(requirement, .state(false), at: 0) }
        var loss = RequirementLoss()
        #expect(loss.stopping(wanted, given: facts) == [.externalPower, .idle])
        #expect(loss.stopping(.network, given: facts) == [])
        loss[.network] = .expire
        loss[.idle] = .continue
        #expect(loss.stopping(wanted, given: facts) == [.externalPower, .network])
        #expect(loss[.network] == .expire)
        #expect(loss[.probe(1)] == .continue)
    }

    @Test func `An unknown fact is not a loss`() {
        var facts = FactSheet()
        _ = facts.take(.externalPower, .state(true), at: 0)
        _ = facts.take(.externalPower, .unknown, at: 1)
        #expect(RequirementLoss().stopping(.externalPower, given: facts) == [])
    }

    @Test(arguments: [
        ("network=off", RequirementSet.network, FactValue?.some(.fails)),
        ("externalPower=on", .externalPower, .holds),
        ("idle=unknown", .idle, .unknown),
        ("lab=true", .probe(0), .holds),
        ("storage=real", .storage, nil),
    ])
    func `A simulated fact is read`(text: String, requirement: RequirementSet, value: FactValue?)
        throws
    {
        let fact = try SimulatedFact(text, probes: ["lab"])
        #expect(fact.requirement == requirement)
        #expect(fact.value == value)
    }

    @Test(arguments: [
        ("network", SimulatedFact.Failure.noValue),
        ("", .noValue),
        ("network=", .unknownValue("")),
        ("network=on=off", .unknownValue("on=off")),
        (
            "net=on",
            .unknownName("net", known: RequirementSet.named.map(\.name) + ["lab"])
        ),
    ])
    func `Other text is refused`(text: String, failure: SimulatedFact.Failure) {
        #expect(throws: failure) { try SimulatedFact(text, probes: ["lab"]) }
    }
}
