// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import BghostBase
@testable import BghostFacts
import Testing

@Suite struct FactSheetTests {
    @Test func `An unwatched fact is unknown`() throws {
        let sheet = FactSheet(probes: ["lab"])
        let unmet = sheet.unmet([.externalPower, .unmetered, .probe(0)])
        #expect(unmet.map(\.name) == ["externalPower", "lab"])
        #expect(unmet.allSatisfy { $0.value == .unknown && $0.since == nil })
        #expect(sheet.unmet(.unmetered, onUnknown: .strict).map(\.name) == ["unmetered"])
        #expect(sheet.unmet(.idle, onUnknown: UnknownPolicy(takesAsMet: .idle)).isEmpty)
        #expect(sheet.failing(of: [.externalPower, .idle]).isEmpty)
    }

    @Test func `An unmet fact is reported under each policy`() throws {
        var sheet = FactSheet()
        _ = sheet.take(.unmetered, .state(false), at: 5, text: "wwan0 is metered")
        let policy = UnknownPolicy(takesAsMet: RequirementSet(rawValue: .max))
        let unmet = try #require(sheet.unmet(.unmetered, onUnknown: policy).first)
        #expect(unmet.name == "unmetered")
        #expect(unmet.value == .fails)
        #expect(unmet.reading == "wwan0 is metered")
        #expect(unmet.wanted == "a network that does not cost by the byte")
        #expect(unmet.since == moment(5).unix)
        #expect(unmet.source == "machine")
    }

    @Test func `Changes are reported once and the last three are kept`() {
        var sheet = FactSheet()
        for second in 0..<5 {
            let isOn = second.isMultiple(of: 2)
            let text = "online=\(isOn ? 1 : 0)"
            #expect(
                sheet.take(.externalPower, .state(isOn), at: Double(second), text: text)
                    == .externalPower
            )
            #expect(
                sheet.take(.externalPower, .state(isOn), at: Double(second) + 0.5, text: text) == []
            )
        }
        let fact = sheet[.externalPower]
        #expect(fact.since == moment(4).unix)
        #expect(
            fact.changes == [
                Fact.Change(value: .holds, reading: "online=1", at: moment(4).unix),
                Fact.Change(value: .fails, reading: "online=0", at: moment(3).unix),
                Fact.Change(value: .holds, reading: "online=1", at: moment(2).unix),
            ]
        )
    }

    @Test func `A first reading that knows nothing has its reason and time`() {
        var sheet = FactSheet()
        #expect(sheet.take(.network, .unknown, at: 1, text: "no netlink") == [])
        #expect(sheet[.network].since == moment(1).unix)
        #expect(sheet[.network].reading == "no netlink")
    }

    /// What the machine says, what the UPS says, and what follows.
    @Test(arguments: [
        (FactMeasure.state(true), FactMeasure.state(true), FactValue.holds, "ups"),
        (.state(true), .state(false), .fails, "ups"),
        (.state(false), .state(true), .fails, "machine"),
        (.state(true), .unknown, .unknown, "ups"),
        (.unknown, .state(true), .unknown, "machine"),
        (.unknown, .state(false), .fails, "ups"),
    ])
    func `The worst of two decides`(
        machine: FactMeasure,
        ups: FactMeasure,
        value: FactValue,
        source: String
    ) {
        var sheet = FactSheet()
        _ = sheet.take(.externalPower, machine, at: 0, origin: .machine)
        _ = sheet.take(.externalPower, ups, at: 0, origin: .ups)
        #expect(sheet[.externalPower].value == value)
        #expect(sheet[.externalPower].source == source)
    }

    @Test func `A simulated fact hides the real one until it ends`() throws {
        var sheet = FactSheet()
        _ = sheet.take(.externalPower, .state(true), at: 0)
        #expect(sheet.simulate(.externalPower, as: .fails, now: moment(1)) == .externalPower)
        #expect(sheet.take(.externalPower, .state(true), at: 2) == [])
        let unmet = try #require(sheet.unmet(.externalPower).first)
        #expect(unmet.reading == "simulated unmet")
        #expect(unmet.source == "simulate fact")
        #expect(unmet.since == moment(1).unix)
        #expect(sheet.simulate(.externalPower, as: nil, now: moment(3)) == .externalPower)
        #expect(sheet[.externalPower].value == .holds)
        #expect(sheet[.externalPower].reading == "read")

        #expect(sheet.simulate(.probe(7), as: .holds, now: moment(4)) == .probe(7))
        #expect(sheet.simulate(.probe(7), as: nil, now: moment(5)) == .probe(7))
        #expect(sheet[.probe(7)].value == .unknown)
        #expect(sheet[.probe(7)].reading == "nothing watches it")
    }

    /// The network is up for long enough while it is simulated to be down.
    @Test func `Time passes under a simulation`() {
        var sheet = FactSheet()
        _ = sheet.take(.network, .state(true), at: 0)
        _ = sheet.simulate(.network, as: .fails, now: moment(0.5))
        #expect(sheet.pass(to: 2) == [])
        #expect(sheet.simulate(.network, as: nil, now: moment(3)) == .network)
        #expect(sheet[.network].value == .holds)
    }

    @Test func `Each probe has a bit of its own`() {
        let names = (0..<10).map { "p\($0)" }
        var sheet = FactSheet(probes: names)
        #expect(sheet.probes == Array(names.prefix(8)))
        for index in 0..<8 {
            #expect(sheet.take(.probe(index), .state(index % 2 == 0), at: 0) == .probe(index))
        }
        #expect(sheet.unmet(.anyProbe).map(\.name) == ["p1", "p3", "p5", "p7"])
        #expect(sheet.failing(of: .anyProbe).name(probes: names) == "p1, p3, p5, p7")
    }

    @Test func `A reading is cut and cannot move the cursor`() {
        let reading = FactReading(
            .probe(0),
            .unknown,
            text: "a\u{1B}[2J\u{202E}\r\n" + String(repeating: "x", count: 1_000_000),
            source: "\u{7}"
        )
        #expect(reading.text.hasPrefix("a?[2J???xxx"))
        #expect(reading.text.unicodeScalars.count == FactReading.textMax + 1)
        #expect(reading.source == "?")
    }

    @Test(arguments: StandardRequirement.allCases.map(\.rawValue) + ["lab"])
    func `Names are read as they are written`(name: String) throws {
        let set = try #require(RequirementSet(name: name, probes: ["office", "lab"]))
        #expect(set.name(probes: ["office", "lab"]) == name)
        #expect(set.each.count == 1)
    }

    /// Requests are stored with these numbers, and the bits from 8 on belong to probes.
    @Test func `No bit moves and none is shared`() {
        let bits: [(RequirementSet, UInt16)] = [
            (.externalPower, 1), (.network, 2), (.unmetered, 4), (.idle, 8), (.batteryNotLow, 16),
            (.storage, 32),
        ]
        for (requirement, bit) in bits { #expect(requirement.rawValue == bit) }
        let all = StandardRequirement.allCases.map(\.set)
        #expect(all.allSatisfy { $0.rawValue.nonzeroBitCount == 1 && $0.rawValue < 1 << 8 })
        #expect(Set(all).count == all.count)
        let needs = StandardRequirement.allCases.compactMap(\.needsBit)
        #expect(Set(needs).count == needs.count)
    }

    @Test(arguments: ["", "Network", "thermal", "late"])
    func `Other names are refused`(name: String) {
        let probes = (0..<8).map { "p\($0)" } + ["late"]
        #expect(RequirementSet(name: name, probes: probes) == nil)
    }
}
