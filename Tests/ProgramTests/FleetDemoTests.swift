// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// What `make demo-fleet` runs, with the programs of this build.
@Suite(.ownThreads) struct FleetDemoTests {
    private static let script = PackageRoot.path + "/Scripts/demo-fleet"

    /// Lets a program get its signals, which threads of the tests may block, and writes all of it to stderr.
    private static let starter = """
        import os, signal, sys
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_DFL)
        os.dup2(2, 1)
        os.execv(sys.argv[1], sys.argv[1:])
        """

    private static func start() throws -> RunningProgram {
        let bghost = Artifact.path("bghost")
        let folder = bghost.prefix(upTo: bghost.lastIndex(of: "/") ?? bghost.endIndex)
        return try RunningProgram(
            command: ["python3", "-c", starter, script],
            environment: ["BIN=\(folder)"]
        )
    }

    /// The folder of a demo, which its first line names.
    private static func folder(_ program: RunningProgram) throws -> String {
        let line = try #require(program.line(containing: "== a PostgreSQL in "), "\(program.lines)")
        let word = line.split(separator: " ").first { $0.contains("bghost-fleet.") }
        return try #require(word?.split(separator: ",").first.map(String.init))
    }

    /// The processes that name a folder in their command.
    private static func processes(of folder: String) throws -> [String] {
        try File.list("/proc").filter { name in
            // One that ends just now has no command.
            guard Int(name) != nil, let command = try? File.read("/proc/\(name)/cmdline") else {
                return false
            }
            return String(decoding: command, as: UTF8.self).contains(folder)
        }
    }

    private static func expectNothing(leftOf folder: String) throws {
        #expect(access(folder, F_OK) != 0)
        // A process that was killed may need a moment.
        for _ in 0..<1000 where try !processes(of: folder).isEmpty { sched_yield() }
        #expect(try processes(of: folder).isEmpty)
    }

    @Test(.timeLimit(.minutes(15)))
    func `The demo of the fleet tells its story and leaves nothing`() throws {
        let program = try Self.start()
        let folder = try Self.folder(program)
        #expect(program.line(containing: "began twice") != nil, "\(program.lines.suffix(20))")
        #expect(program.end() == 0, "\(program.lines.suffix(20))")
        for part in [
            "is killed in the middle of it", "takes the report of", "has served it.",
            "has died or lost its way", "is drained: it ends what it has", "serves the reports.",
            "starts of the fleet", "3 hosts with a valid lease, no problem",
            " reports",
        ] {
            #expect(program.lines.contains { $0.contains(part) }, "\(part): \(program.lines)")
        }
        try Self.expectNothing(leftOf: folder)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [SIGINT, SIGTERM])
    func `A demo that is stopped leaves nothing`(by signal: Int32) throws {
        let program = try Self.start()
        let folder = try Self.folder(program)
        #expect(program.line(containing: "serves the report of") != nil, "\(program.lines)")
        program.signal(signal)
        #expect(program.end() == 128 + signal, "\(program.lines.suffix(20))")
        try Self.expectNothing(leftOf: folder)
    }

    @Test func `A demo without its programs says what is missing`() throws {
        let result = try Command.run(["env", "BIN=/nonexistent", Self.script])
        #expect(result.exitCode != 0 && result.error.contains("make demo-fleet"), "\(result)")
    }
}
