// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// Why and what if, from the command line to the real daemon.
@Suite(.ownThreads) struct WhyTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func daemon() throws -> TestDaemon {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"overrun": {"library": "libOverrun.so"}},
             "tasks": {"a.b": {"plugin": "overrun", "handler": "overrun.ignore-cancel",
                               "requires": {"network": true},
                               "limits": {"runtime": "60s", "grace": "100ms"}}}}
            """,
            to: "tasks.json"
        )
        return try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `A trigger without network is refused, can be forced, and can be expired`() throws {
        let daemon = try daemon()
        let fact = try daemon.command(["simulate", "fact", "network=off"])
        #expect(fact.exitCode == 0, "\(fact.error)")
        let status = try daemon.command(["status"]).output
        #expect(
            status.contains("! network is simulated: unmet; `bghost simulate fact network=real`")
        )

        let refused = try daemon.command(["simulate", "launch", "a.b"])
        #expect(refused.exitCode == 1 && refused.output.isEmpty)
        #expect(refused.error.contains("BG4004"))
        #expect(refused.error.contains("requirement(network)"))

        let launched = try daemon.command(["simulate", "launch", "a.b", "--ignore-requirements"])
        #expect(launched.exitCode == 0, "\(launched.error)")
        try #require(daemon.program.line(containing: "in worker") != nil)
        let runs = try JSONReader.parse(try daemon.command(["runs", "--json"]).output)
        let run = try #require(runs["runs"]?.array?.first?["id"]?.string)
        let why = try daemon.command(["why", "a.b"])
        #expect(why.output.contains("a.b runs: \(run)"), "\(why.output)")
        let expired = try daemon.command(["simulate", "expire", run])
        #expect(expired.exitCode == 0, "\(expired.error)")
        try #require(daemon.program.line(containing: "killed(graceExceeded)") != nil)
        // Neither the run nor its expiry was real, so no task is throttled.
        #expect(try daemon.command(["throttle"]).output == "no task is throttled\n")
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A request for tomorrow runs today`() throws {
        let daemon = try daemon()
        #expect(try daemon.command(["simulate", "fact", "network=on"]).exitCode == 0)
        #expect(try daemon.command(["submit", "a.b", "--earliest", "+1d"]).exitCode == 0)
        let why = try daemon.command(["explain", "a.b"])
        #expect(why.exitCode == 0)
        #expect(why.output.contains("!  notBefore"), "\(why.output)")
        #expect(why.output.contains("✓  requirement(network)") || why.output.contains("+  requi"))
        #expect(why.output.contains("It would start now if it were "))
        #expect(why.output.contains("as things stand."))

        let back = try daemon.command(["simulate", "clock", "-30m"])
        #expect(back.output.contains("30m behind the machine's"), "\(back.error)")
        let json = try JSONReader.parse(try daemon.command(["why", "a.b", "--json"]).output)
        #expect(json["requests"]?.array?.first?["certain"]?.bool == true)
        #expect(json["simulation"]?["facts"]?.array?.count == 1)

        let clock = try daemon.command(["simulate", "clock", "+25h"])
        #expect(clock.output.contains("ahead of the machine's"))
        #expect(daemon.program.line(containing: "an operator moved the clock to") != nil)
        try #require(daemon.program.line(containing: "in worker") != nil)
        let idle = try daemon.command(["why", "a.b"]).output
        #expect(idle.contains("no pending request"), "\(idle)")
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `An unknown task is refused with suggestions`() throws {
        let daemon = try daemon()
        let result = try daemon.command(["why", "a.c"])
        #expect(result.exitCode == 4 && result.error.contains("BG4013"))
        #expect(result.error.contains("did you mean `a.b`?"), "\(result.error)")
        #expect(daemon.stop() == 0)
    }
}
