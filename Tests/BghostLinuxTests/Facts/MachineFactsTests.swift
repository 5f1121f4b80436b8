// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFacts
@testable import BghostLinux
import BghostTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct MachineFactsTests {
    @Test func `A source may report from any thread`() async throws {
        let resident = try FactsResident()
        let source = ManualFacts([.externalPower, .network])
        source.report(.externalPower, .state(false), text: "before the start")
        try await resident.start { _ in [source] }
        #expect(await resident.sheet[.externalPower].reading == "before the start")
        source.report(.externalPower, .state(true))
        #expect(await resident.fact(.externalPower, is: .holds).source == "manual")
        #expect(await resident.changes == [.externalPower, .externalPower])
    }

    /// The reactor's timer alone brings the change, without another reading.
    @Test func `A due reading comes without a call`() async throws {
        let resident = try FactsResident()
        let source = ManualFacts(.network)
        try await resident.start { _ in [source] }
        let began = Monotonic.now
        source.report(.network, .state(true))
        let changes = await resident.fact(.network, is: .holds).changes
        #expect(changes.map(\.value) == [.holds, .fails])
        #expect(Monotonic.now >= began + 2_000_000_000)
    }

    @Test func `A simulated fact wins until it ends`() async throws {
        let resident = try FactsResident()
        let source = ManualFacts(.externalPower)
        source.report(.externalPower, .state(true))
        try await resident.start { _ in [source] }
        try await resident.simulate("externalPower=off")
        #expect(await resident.sheet[.externalPower].value == .fails)
        try await resident.simulate("externalPower=real")
        #expect(await resident.sheet[.externalPower].value == .holds)
    }

    @Test(
        arguments: [
            ([], 0), (.network, 1), (.unmetered, 1),
            ([.network, .unmetered], 1), (.externalPower, 2),
            ([.externalPower, .batteryNotLow], 2), (.idle, 1), (.storage, 1), (.probe(1), 1),
            ([.probe(0), .probe(1), .probe(7)], 2), (RequirementSet(rawValue: .max), 7),
        ] as [(RequirementSet, Int)]
    )
    func `Only what is wanted is watched`(wanted: RequirementSet, count: Int) throws {
        var settings = FactSettings(storage: "/")
        settings.ups = UPSMonitor.Address(host: "127.0.0.1")
        settings.probes = ["a", "b"].map { ProbeDefinition(name: $0, arguments: ["/bin/true"]) }
        let spawner = try Spawner()
        defer { spawner.end() }
        let sources = settings.sources(for: wanted, spawner: spawner)
        #expect(sources.count == count)
        #expect(sources.allSatisfy { !$0.requirements.isDisjoint(with: wanted) })
    }

    @Test(arguments: StandardRequirement.allCases)
    func `Each requirement has a source`(requirement: StandardRequirement) throws {
        let spawner = try Spawner()
        defer { spawner.end() }
        let sources = FactSettings(storage: "/").sources(for: requirement.set, spawner: spawner)
        #expect(sources.contains { $0.requirements.contains(requirement.set) })
    }

    /// The real ones of this machine: all answer, and then nothing wants to be woken for long.
    @Test func `The real sources answer and then sleep`() async throws {
        let folder = try TemporaryDirectory()
        let resident = try FactsResident()
        let wanted = RequirementSet(StandardRequirement.allCases.map(\.set)).union(.probe(0))
        try await resident.start(probes: ["true"]) { spawner in
            var settings = FactSettings(storage: folder.path)
            settings.meteredLinks = ["wwan*"]
            settings.probes = [ProbeDefinition(name: "true", arguments: ["/bin/true"])]
            return settings.sources(for: wanted, spawner: spawner)
        }
        _ = await resident.sheet { sheet in wanted.each.allSatisfy { sheet[$0].since != nil } }
        // The network needs two seconds and idleness a minute: after that nothing is on its way.
        await resident.pass(seconds: 3)
        await resident.pass(seconds: 61)
        _ = await resident.fact(.probe(0), is: .holds)
        await resident.rest(seconds: 20)
        // One wake-up serves all that is polled, though each has its own time.
        await resident.pass(seconds: 29)
        await resident.rest(seconds: 20)
        await resident.stop()
        #expect(await resident.untilDeadline == nil)
    }
}
