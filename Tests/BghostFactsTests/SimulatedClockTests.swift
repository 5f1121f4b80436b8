// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostFacts
import BghostTestSupport
import Testing

@Suite struct SimulatedClockTests {
    private static let second: Int64 = 1_000_000_000
    private static let machine: Int64 = 1_795_278_664_000_000_000

    private static let clocks: [(String, SimulatedClock)] = [
        ("+6h", .by(21_600 * second)), ("-30m", .by(-1800 * second)),
        ("+1d2h3m4s5ms", .by(93_784_005_000_000)), ("+0s", .by(0)), ("real", .real),
        ("2026-11-21T16:31:04Z", .to(machine)), ("2026-11-21T17:31:04+01:00", .to(machine)),
    ]

    @Test(arguments: clocks)
    func `Clocks are read`(text: String, clock: SimulatedClock) throws {
        #expect(try SimulatedClock(text) == clock)
    }

    @Test(arguments: [
        "", "+", "-", "6h", "+6", "+h", "+6y", "+-6h", "++6h", "+6h ", "+99999999999999999999h",
        "+9223372036854775807d", "+36501d", "soon", "2026-13-01T00:00:00Z", "1969-12-31T23:59:59Z",
        "2200-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "REAL",
    ])
    func `Texts that are no clock are refused`(text: String) {
        #expect(throws: SimulatedClock.Failure.self) { try SimulatedClock(text) }
    }

    @Test func `Steps add up and times do not`() throws {
        let hour = 3600 * Self.second
        func offset(_ text: String, from offset: Int64) throws -> Int64 {
            try SimulatedClock(text).offset(machine: Self.machine, offset: offset)
        }
        #expect(try offset("+6h", from: 0) == 6 * hour)
        #expect(try offset("-1h", from: 6 * hour) == 5 * hour)
        #expect(try offset("real", from: 5 * hour) == 0)
        #expect(try offset("2026-11-21T18:31:04Z", from: 5 * hour) == 2 * hour)
    }

    @Test func `Never leaves the years that it can show`() throws {
        let range = SimulatedClock.range
        var offset: Int64 = 0
        for _ in 0..<3 {
            guard
                let next = try? SimulatedClock("+36500d").offset(
                    machine: Self.machine,
                    offset: offset
                )
            else { break }
            offset = next
            #expect(range.contains(Self.machine + offset))
        }
        #expect(throws: SimulatedClock.Failure.outOfRange) {
            try SimulatedClock("-36500d").offset(machine: Self.machine, offset: 0)
        }
        #expect(throws: SimulatedClock.Failure.outOfRange) {
            try SimulatedClock("+1h").offset(machine: .max - 5, offset: 10)
        }
    }

    @Test(arguments: [
        ("power=battery", RequirementSet.externalPower, FactValue.fails),
        ("power=mains", .externalPower, .holds), ("externalPower=off", .externalPower, .fails),
        ("network=off", .network, .fails), ("idle=on", .idle, .holds),
        ("storage=unknown", .storage, .unknown),
    ])
    func `Simulated facts are read`(text: String, requirement: RequirementSet, value: FactValue)
        throws
    {
        let fact = try SimulatedFact(text, probes: [])
        #expect(fact == SimulatedFact(requirement: requirement, value: value))
    }

    @Test(arguments: ["network", "network=battery", "power=low", "nowhere=on", "=on", ""])
    func `Texts that are no fact are refused`(text: String) {
        #expect(throws: SimulatedFact.Failure.self) { try SimulatedFact(text, probes: []) }
    }

    @Test func `A sheet tells what is simulated`() throws {
        var sheet = FactSheet()
        let now = Moment(monotonic: 1, unix: 1)
        #expect(sheet.simulations.isEmpty)
        _ = sheet.simulate([.network, .idle], as: .fails, now: now)
        #expect(
            sheet.simulations == [
                SimulatedFact(requirement: .network, value: .fails),
                SimulatedFact(requirement: .idle, value: .fails),
            ]
        )
        #expect(sheet[.network].source == FactSheet.simulationSource)
        _ = sheet.simulate(.network, as: nil, now: now)
        #expect(sheet.simulations.map(\.requirement) == [.idle])
        #expect(sheet[.network].source.isEmpty)
    }
}
