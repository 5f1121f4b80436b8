// SPDX-License-Identifier: Apache-2.0

@testable import BghostFacts
@testable import BghostLinux
import BghostTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct UPSMonitorTests {
    /// A client whose time limit no slow machine exceeds.
    private static func read(_ address: UPSMonitor.Address) -> [FactReading] {
        UPSMonitor(address, timeout: .seconds(3600)).read()
    }

    /// A server that knows one supply with these variables.
    private static func server(_ variables: [String: String]) throws -> UPSServer {
        try UPSServer { line in
            let words = line.split(separator: " ")
            if line == "LIST UPS" {
                return "BEGIN LIST UPS\nUPS su700 \"In the \\\"cellar\\\"\"\nEND LIST UPS\n"
            }
            if line == "LOGOUT" { return "OK Goodbye\n" }
            guard words.count == 4, words[0] == "GET", words[1] == "VAR", words[2] == "su700" else {
                return "ERR INVALID-ARGUMENT\n"
            }
            guard let value = variables[String(words[3])] else { return "ERR VAR-NOT-SUPPORTED\n" }
            return "VAR su700 \(words[3]) \"\(value)\"\n"
        }
    }

    @Test(
        arguments: [
            ("OL", "100", "1200", FactMeasure.state(true), FactMeasure.charge(percent: 100)),
            ("OL CHRG", "19", "300", .state(true), .charge(percent: 19)),
            ("OB DISCHRG", "81", "1200", .state(false), .charge(percent: 81)),
            ("OB LB", "81", "1200", .state(false), .state(false)),
            ("FSD OL", "81", "1200", .state(false), .charge(percent: 81)),
            ("OB", nil, "299", .state(false), .state(false)),
            ("OL", nil, "300", .state(true), .state(true)),
            ("OL", "nan", "inf", .state(true), .unknown),
            ("OL", "-5", nil, .state(true), .unknown),
            ("BYPASS", nil, nil, .unknown, .unknown),
            ("", nil, nil, .unknown, .unknown),
        ] as [(String, String?, String?, FactMeasure, FactMeasure)]
    )
    func `The monitor queries a supply`(
        status: String,
        charge: String?,
        runtime: String?,
        power: FactMeasure,
        battery: FactMeasure
    ) throws {
        var variables = ["ups.status": status]
        variables["battery.charge"] = charge
        variables["battery.runtime"] = runtime
        let server = try Self.server(variables)
        let readings = Self.read(server.address)
        #expect(readings.map(\.requirement) == [.externalPower, .batteryNotLow])
        #expect(readings.map(\.measure) == [power, battery])
        #expect(readings.allSatisfy { $0.origin == .ups })
        #expect(readings[0].text.hasPrefix("su700 ups.status=\(status)"))
        #expect(readings[0].source == "127.0.0.1:\(server.port)")
    }

    @Test func `Of several the worst decides unless one is named`() throws {
        let server = try UPSServer { line in
            if line == "LIST UPS" {
                return "BEGIN LIST UPS\nUPS a \"\"\nUPS b \"\"\nEND LIST UPS\n"
            }
            let words = line.split(separator: " ")
            guard words.count == 4, words[3] == "ups.status" else {
                return "ERR VAR-NOT-SUPPORTED\n"
            }
            return "VAR \(words[2]) ups.status \"\(words[2] == "b" ? "OB" : "OL")\"\r\n"
        }
        let both = Self.read(server.address)
        #expect(both[0].measure == .state(false))
        #expect(both[0].text == "b ups.status=OB")
        var address = server.address
        address.supply = "a"
        #expect(Self.read(address)[0].measure == .state(true))
    }

    /// Errors that a server may return, and the resulting state.
    struct Answer: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var text: String
        var reading = "the server does not speak as upsd does"
    }

    private static let list = "BEGIN LIST UPS\n"

    static let answers = [
        Answer(
            testDescription: "access denied",
            text: "ERR ACCESS-DENIED\n",
            reading: "the server says ACCESS-DENIED"
        ),
        Answer(
            testDescription: "a driver that is gone",
            text: list + "UPS a \"\"\nEND LIST UPS\nERR DATA-STALE\n",
            reading: "the server says DATA-STALE"
        ),
        Answer(
            testDescription: "no supply",
            text: list + "END LIST UPS\n",
            reading: "the server knows no supply"
        ),
        Answer(testDescription: "a supply without a name", text: list + "UPS\n"),
        Answer(
            testDescription: "a name that is a question of its own",
            text: list + "UPS \"a\nLOGOUT\" \"\"\nEND LIST UPS\n"
        ),
        Answer(
            testDescription: "a name of two words",
            text: list + "UPS \"a b\" \"\"\nEND LIST UPS\n"
        ),
        Answer(testDescription: "an empty name", text: list + "UPS \"\" \"\"\nEND LIST UPS\n"),
        Answer(testDescription: "an empty line", text: "\n"),
        Answer(testDescription: "an open quote", text: "BEGIN LIST \"UPS\n"),
        Answer(testDescription: "another protocol", text: "HTTP/1.1 400 Bad Request\r\n\r\n"),
        Answer(
            testDescription: "the answer to another question",
            text: list + "UPS a \"\"\nEND LIST UPS\nVAR b ups.status \"OL\"\n"
        ),
        Answer(
            testDescription: "very many supplies",
            text: list + String(repeating: "UPS a \"\"\n", count: 10_000)
        ),
        Answer(
            testDescription: "a line without an end",
            text: String(repeating: "x", count: 1_000_000),
            reading: "the answer is too long"
        ),
        Answer(
            testDescription: "a second line without an end",
            text: list + String(repeating: "y", count: 5000),
            reading: "the answer is too long"
        ),
    ]

    @Test(arguments: answers) func `Other answers make it unknown`(answer: Answer) throws {
        let server = try UPSServer(saying: answer.text)
        for reading in Self.read(server.address) {
            #expect(reading.measure == .unknown)
            #expect(reading.text == answer.reading)
        }
    }

    @Test func `A server that closes is unknown`() throws {
        let server = try UPSServer { _ in nil }
        #expect(
            Self.read(server.address)[0].text
                == "the connection was closed in mid-answer"
        )
    }

    @Test(arguments: ["", list]) func `A silent server is timed out`(answer: String) throws {
        let server = try UPSServer(saying: answer)
        let reading = UPSMonitor(server.address, timeout: .milliseconds(50)).read()[0]
        #expect(reading.measure == .unknown)
        #expect(reading.text == "no answer in time")
    }

    @Test func `A supply without a server is unknown`() throws {
        // No process listens at port 1 of the loopback.
        let address = UPSMonitor.Address(host: "127.0.0.1", port: 1, supply: "a")
        let reading = Self.read(address)[0]
        #expect(reading.measure == .unknown)
        #expect(reading.text == "connect to 127.0.0.1:1: Connection refused")
        #expect(reading.source == "a@127.0.0.1:1")
    }

    @Test(
        arguments: [
            ("VAR a b \"OL CHRG\"", ["VAR", "a", "b", "OL CHRG"]),
            ("  a   b ", ["a", "b"]),
            (#"a "b \"c\" \\ d""#, ["a", #"b "c" \ d"#]),
            (#"a """#, ["a", ""]),
            (#"a "b"#, nil),
            (#"a \"#, nil),
            ("", []),
        ] as [(String, [String]?)]
    )
    func `Words are taken apart`(line: String, words: [String]?) {
        #expect(UPSMonitor.words(Array(line.utf8)) == words)
    }

    /// Through all of it: a UPS on battery makes the machine's power fail, though the machine itself
    /// sees no battery at all.
    @Test func `A UPS on battery is no external power`() async throws {
        let server = try Self.server(["ups.status": "OB", "battery.charge": "90"])
        let supplies = try PowerSupplyTests.build([:])
        let address = server.address
        let resident = try FactsResident()
        try await resident.start { spawner in
            var settings = FactSettings(storage: supplies.path)
            settings.powerSupplies = supplies.path
            settings.ups = address
            return settings.sources(for: .externalPower, spawner: spawner)
        }
        let fact = await resident.fact(.externalPower, is: .fails)
        #expect(fact.reading == "su700 ups.status=OB battery.charge=90")
        await resident.stop()
    }
}
