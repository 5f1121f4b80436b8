// SPDX-License-Identifier: Apache-2.0

@testable import BghostFacts
@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct PressureTests {
    @Test(
        arguments: [
            ("some avg10=0.00 avg60=0.59 avg300=0.89 total=1\nfull avg10=9 avg60=0 total=0\n", 0.0),
            ("some avg10=12.34 avg60=0 avg300=0 total=1", 12.34),
            ("full avg10=9 total=0\nsome avg10=100 total=1", 100),
            ("full avg10=9 total=0\n", nil),
            ("some avg60=1\n", nil),
            ("some avg10=\n", nil),
            ("some avg10=nan\n", nil),
            ("some avg10=-1\n", nil),
            ("some avg10=100.01\n", nil),
            ("some avg10=1.2.3\n", nil),
            ("", nil),
        ] as [(String, Double?)]
    )
    func `A share is read`(text: String, share: Double?) {
        #expect(Pressure.share(in: Array(text.utf8)) == share)
    }

    @Test(
        arguments: [
            ("0.11 0.16 0.25 1/102 28300\n", 0.11), ("8 0 0", 8), ("8", nil), ("", nil),
            ("inf 0 0", nil), ("-1 0 0", nil), (" 1", nil),
        ] as [(String, Double?)]
    )
    func `A load is read`(text: String, load: Double?) {
        #expect(Pressure.load(in: Array(text.utf8)) == load)
    }

    @Test func `The kernel's pressure goes before the load`() throws {
        let folder = try TemporaryDirectory()
        let load = try folder.write("3.00 0 0 1/1 1\n", to: "loadavg")
        let pressure = Pressure(root: folder.path, loadFile: load, processors: 4)
        #expect(pressure.reading().measure == .load(perProcessor: 0.75))
        #expect(pressure.reading().source == load)

        try folder.write("some avg10=1.50 avg60=0 avg300=0 total=0\n", to: "cpu")
        #expect(pressure.reading().measure == .load(perProcessor: 0.75))
        try folder.write("some avg10=0.25 avg60=0 avg300=0 total=0\n", to: "io")
        #expect(pressure.reading().measure == .pressure(cpu: 1.5, io: 0.25))
        #expect(pressure.reading().text == "cpu=1.5% io=0.25%")
    }

    @Test func `Without both it is unknown`() throws {
        let folder = try TemporaryDirectory()
        let pressure = Pressure(root: folder.path, loadFile: folder.file("loadavg"))
        #expect(pressure.reading().measure == .unknown)
    }

    /// The look before the minute is over is a fresh one, not the one of half a minute ago.
    @Test func `Idleness is decided by a fresh look`() async throws {
        let folder = try TemporaryDirectory()
        for file in ["cpu", "io"] { try folder.write("some avg10=0.00 total=0\n", to: file) }
        let resident = try FactsResident(standsStill: true)
        try await resident.start { _ in [Pressure(root: folder.path, hasTriggers: false)] }
        await resident.pass(seconds: 55)
        try folder.write("some avg10=11.00 total=0\n", to: "cpu")
        await resident.pass(seconds: 6)
        #expect(await resident.sheet[.idle].value == .fails)
        #expect(await resident.sheet[.idle].reading == "cpu=11.0% io=0.0%")

        try folder.write("some avg10=0.00 total=0\n", to: "cpu")
        await resident.pass(seconds: 30)
        await resident.pass(seconds: 59)
        #expect(await resident.sheet[.idle].value == .fails)
        await resident.pass(seconds: 1)
        #expect(await resident.sheet[.idle].value == .holds)
        let wait = try #require(await resident.untilDeadline)
        #expect(wait == 30_000_000_000)
    }

    private static let hasPressure = access("/proc/pressure/cpu", W_OK) == 0

    @Test(.enabled(if: hasPressure, "this kernel measures no pressure"))
    func `The real one answers`() async throws {
        let resident = try FactsResident()
        try await resident.start { _ in [Pressure()] }
        let fact = await resident.sheet[.idle]
        #expect(fact.value == .fails)
        #expect(fact.source == "/proc/pressure")
        #expect(fact.reading.hasPrefix("cpu="))
        await resident.stop()
    }
}
