// SPDX-License-Identifier: Apache-2.0

@testable import BghostFacts
@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct PowerSupplyTests {
    /// The files of some supplies, and what they say.
    struct Tree: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var files: [String: [String: String]]
        var power: FactMeasure
        var powerText: String
        var charge: FactMeasure
        var chargeText: String
    }

    static let trees = [
        Tree(
            testDescription: "a server without any",
            files: [:],
            power: .state(true),
            powerText: "no power supply",
            charge: .state(true),
            chargeText: "no battery"
        ),
        Tree(
            testDescription: "a laptop on the mains",
            files: [
                "AC": ["type": "Mains", "online": "1"],
                "BAT0": ["type": "Battery", "status": "Charging", "capacity": "81"],
                "ucsi-1": ["type": "USB", "online": "0"],
            ],
            power: .state(true),
            powerText: "AC online=1",
            charge: .charge(percent: 81),
            chargeText: "capacity=81"
        ),
        Tree(
            testDescription: "a laptop on battery",
            files: [
                "AC": ["type": "Mains", "online": "0"],
                "BAT0": ["type": "Battery", "status": "Discharging", "capacity": "12"],
            ],
            power: .state(false),
            powerText: "AC online=0",
            charge: .charge(percent: 12),
            chargeText: "capacity=12"
        ),
        Tree(
            testDescription: "charged over USB at a chosen voltage",
            files: [
                "AC": ["type": "Mains", "online": "0"],
                "usb-c": ["type": "USB_PD", "online": "2"],
            ],
            power: .state(true),
            powerText: "usb-c online=2",
            charge: .state(true),
            chargeText: "no battery"
        ),
        Tree(
            testDescription: "two batteries, one worn and one a little too full",
            files: [
                "BAT0": ["type": "Battery", "status": "Discharging", "capacity": "10"],
                "BAT1": ["type": "Battery", "status": "Full", "capacity": "102"],
            ],
            power: .state(false),
            powerText: "BAT0 status=Discharging",
            charge: .charge(percent: 55),
            chargeText: "capacity=55"
        ),
        Tree(
            testDescription: "a battery that tells its level only",
            files: ["BAT0": ["type": "Battery", "status": "Full", "capacity_level": "Low"]],
            power: .state(true),
            powerText: "BAT0 status=Full",
            charge: .state(false),
            chargeText: "capacity_level=Low"
        ),
        Tree(
            testDescription: "a UPS on battery feeds what looks like the mains",
            files: [
                "AC": ["type": "Mains", "online": "1"],
                "hid-ups": ["type": "UPS", "status": "Discharging", "capacity": "64"],
            ],
            power: .state(false),
            powerText: "hid-ups status=Discharging",
            charge: .charge(percent: 64),
            chargeText: "capacity=64"
        ),
        Tree(
            testDescription: "a mouse is not the machine",
            files: [
                "hidpp": [
                    "type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "3",
                ]
            ],
            power: .state(true),
            powerText: "no power supply",
            charge: .state(true),
            chargeText: "no battery"
        ),
        Tree(
            testDescription: "a bay without a battery",
            files: [
                "AC": ["type": "Mains", "online": "1"],
                "BAT1": ["type": "Battery", "present": "0", "status": "Unknown"],
            ],
            power: .state(true),
            powerText: "AC online=1",
            charge: .state(true),
            chargeText: "no battery"
        ),
        Tree(
            testDescription: "nonsense",
            files: [
                "AC": ["type": "Mains", "online": "perhaps"],
                "BAT0": ["type": "Battery", "status": "\u{1B}[2J", "capacity": "-7"],
            ],
            power: .unknown,
            powerText: "AC says nothing",
            charge: .unknown,
            chargeText: "capacity_level=Unknown"
        ),
    ]

    @Test(arguments: trees) func `A tree is read`(tree: Tree) throws {
        let folder = try Self.build(tree.files)
        let readings = PowerSupplies(root: folder.path).read()
        #expect(readings.map(\.requirement) == [.externalPower, .batteryNotLow])
        #expect(readings.map(\.measure) == [tree.power, tree.charge])
        #expect(readings.map(\.text) == [tree.powerText, tree.chargeText])
        #expect(readings.allSatisfy { $0.source.hasPrefix(folder.path) })
    }

    @Test func `A machine whose kernel knows no supplies has power`() throws {
        let classes = try TemporaryDirectory()
        let readings = PowerSupplies(root: classes.file("power_supply")).read()
        #expect(readings.map(\.measure) == [.state(true), .state(true)])
    }

    @Test func `A sandbox without the files is not a server`() throws {
        let empty = try TemporaryDirectory()
        let readings = PowerSupplies(root: empty.file("class/power_supply")).read()
        #expect(readings.map(\.measure) == [.unknown, .unknown])
        #expect(readings[0].text.hasSuffix("No such file or directory"))
    }

    @Test func `A pipe in place of a file is not waited for`() throws {
        let folder = try Self.build(["AC": ["type": "Mains"]])
        #expect(mkfifo(folder.file("AC/online"), 0o600) == 0)
        #expect(PowerSupplies(root: folder.path).read()[0].measure == .unknown)
    }

    @Test func `Without a sign it is looked at every 30 seconds`() async throws {
        let folder = try Self.build(["AC": ["type": "Mains", "online": "1"]])
        let resident = try FactsResident(standsStill: true)
        try await resident.start { _ in [PowerSupplies.source(root: folder.path, signal: nil)] }
        #expect(await resident.fact(.externalPower, is: .holds).reading == "AC online=1")
        let wait = try #require(await resident.untilDeadline)
        #expect(wait == 30_000_000_000)

        try folder.write("0\n", to: "AC/online")
        await resident.pass(seconds: 31)
        let fact = await resident.fact(.externalPower, is: .fails)
        #expect(fact.reading == "AC online=0")
        #expect(fact.source == folder.file("AC/online"))
        #expect(fact.changes.map(\.value) == [.fails, .holds])
        await resident.stop()
        #expect(await resident.untilDeadline == nil)
    }

    static func build(_ files: [String: [String: String]]) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        for (supply, values) in files {
            #expect(mkdir(folder.file(supply), 0o755) == 0)
            for (name, value) in values { try folder.write(value + "\n", to: supply + "/" + name) }
        }
        return folder
    }
}
