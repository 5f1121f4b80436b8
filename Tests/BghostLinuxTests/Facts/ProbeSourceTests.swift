// SPDX-License-Identifier: Apache-2.0

@testable import BghostFacts
@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct ProbeSourceTests {
    private static func resident(
        shell script: String,
        timeout: Duration = .seconds(30),
        standsStill: Bool = false
    ) async throws -> FactsResident {
        let arguments = ["/bin/sh", "-c", script]
        return try await resident(
            arguments: arguments,
            timeout: timeout,
            standsStill: standsStill
        )
    }

    private static func resident(
        arguments: [String],
        timeout: Duration = .seconds(30),
        standsStill: Bool = false
    ) async throws -> FactsResident {
        let probe = ProbeDefinition(name: "lab", arguments: arguments, timeout: timeout)
        let resident = try FactsResident(standsStill: standsStill)
        try await resident.start(probes: ["lab"]) { [ProbeSource(.probe(0), probe, spawner: $0)] }
        return resident
    }

    /// The fact once anything has been read.
    private static func fact(_ resident: FactsResident) async -> Fact {
        await resident.sheet { $0[.probe(0)].since != nil }[.probe(0)]
    }

    @Test(arguments: [
        ("exit 0", FactValue.holds, "exit 0"),
        ("echo open; exit 0", .holds, "open"),
        ("echo closed at night; echo more; exit 1", .fails, "closed at night"),
        ("exit 1", .fails, "exit 1"),
        ("echo no config; exit 2", .unknown, "exit 2: no config"),
        ("exit 127", .unknown, "exit 127"),
        ("kill -SEGV $$", .unknown, "SIGSEGV"),
        ("echo to stderr >&2; exit 0", .holds, "exit 0"),
        ("printf 'a\\033[2Jb'; exit 0", .holds, "a?[2Jb"),
        ("cat; exit 0", .holds, "exit 0"),
    ])
    func `Its exit is the value`(script: String, value: FactValue, reading: String) async throws {
        let fact = await Self.fact(try await Self.resident(shell: script))
        #expect(fact.value == value)
        #expect(fact.reading == reading)
        #expect(fact.source == "/bin/sh")
    }

    @Test func `A program that is not there is unknown`() async throws {
        let fact = await Self.fact(try await Self.resident(arguments: ["/no/such/probe"]))
        #expect(fact.value == .unknown)
        #expect(fact.reading == "start /no/such/probe: No such file or directory")
    }

    @Test func `A probe without a program is unknown`() async throws {
        let resident = try await Self.resident(arguments: [])
        #expect(await Self.fact(resident).reading == "it names no program")
        #expect(await resident.untilDeadline == nil)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A probe that hangs is killed`() async throws {
        let output = try Pipe.make()
        defer { close(output.reading) }
        let path = "/proc/\(getpid())/fd/\(output.writing)"
        let resident = try await Self.resident(
            shell: "exec 9>\(path); echo up >&9; trap '' TERM; sleep 1000; sleep 1000",
            timeout: .seconds(2),
            standsStill: true
        )
        for expected in "up\n".utf8 { #expect(Program.next(output.reading) == expected) }
        close(output.writing)
        // Its words may be here before the word that it was started: until then it counts as not
        // started.
        var fact: Fact
        repeat {
            await resident.pass(seconds: 3)
            fact = await Self.fact(resident)
        } while fact.reading == "it could not be started within 2.0 seconds"
        #expect(fact.value == .unknown)
        #expect(fact.reading == "no answer within 2.0 seconds")
        // With all that it started.
        #expect(Program.next(output.reading) == nil)
        await resident.stop()
    }

    @Test func `Endless output is not kept`() async throws {
        let fact = await Self.fact(try await Self.resident(shell: "exec yes y"))
        #expect(fact.value == .unknown)
        #expect(fact.reading == "it wrote more than 64 KiB")
    }

    @Test func `A long line is cut`() async throws {
        let fact = await Self.fact(
            try await Self.resident(shell: "head -c 60000 /dev/zero | tr '\\0' x; exit 0")
        )
        #expect(fact.value == .holds)
        #expect(fact.reading.unicodeScalars.count == FactReading.textMax + 1)
    }

    /// Processes that a probe leaves hold its output open; the monitor does not wait for them.
    @Test func `Processes that a probe leaves are killed`() async throws {
        let output = try Pipe.make()
        defer { close(output.reading) }
        // The shell's own descriptor 9 stays with what it starts in the background.
        let path = "/proc/\(getpid())/fd/\(output.writing)"
        let resident = try await Self.resident(
            shell: "exec 9>\(path); sleep 1000 & echo done; exit 0"
        )
        #expect(await Self.fact(resident).reading == "done")
        close(output.writing)
        #expect(Program.next(output.reading) == nil)
    }

    @Test func `A probe runs again after its interval`() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("open")
        let resident = try await Self.resident(shell: "test -e \(file)", standsStill: true)
        #expect(await Self.fact(resident).value == .fails)
        #expect(await resident.untilDeadline == 30_000_000_000)
        try folder.write("", to: "open")
        await resident.pass(seconds: 30)
        #expect(await resident.fact(.probe(0), is: .holds).reading == "exit 0")
    }

    /// Ended in mid-run, it leaves no process.
    @Test func `A probe ends with its owner`() async throws {
        let output = try Pipe.make()
        defer { close(output.reading) }
        let path = "/proc/\(getpid())/fd/\(output.writing)"
        let resident = try await Self.resident(
            shell: "exec 9>\(path); echo up >&9; exec sleep 1000",
            standsStill: true
        )
        for expected in "up\n".utf8 { #expect(Program.next(output.reading) == expected) }
        await resident.stop()
        close(output.writing)
        #expect(Program.next(output.reading) == nil)
    }
}
