// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// A daemon that does not get to run for a while, with everything else going on: SIGSTOP, a hypervisor
/// that pauses, a machine that swaps.
@Suite(.ownThreads) struct FrozenDaemonTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func manifest() throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"misbehave": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {
               "honour-cancel": {"plugin": "misbehave",
                                 "limits": {"runtime": "4s", "grace": "20s"}},
               "ignore-cancel": {"plugin": "misbehave",
                                 "limits": {"runtime": "4s", "grace": "200ms"}},
               "tick": {"plugin": "misbehave", "handler": "succeed", "every": "1s"}}}
            """,
            to: "tasks.json"
        )
    }

    private func runs(_ task: String, _ daemon: TestDaemon) throws -> [JSONNode] {
        let answer = try daemon.command(["runs", task, "--json", "--limit", "1000"])
        return try #require(try JSONReader.parse(answer.output)["runs"]?.array)
    }

    @Test(.timeLimit(.minutes(5)))
    func `Starts due while the daemon was frozen happen once, late`() throws {
        let clock = ContinuousClock()
        let start = clock.now
        let daemon = try TestDaemon(
            manifest: try manifest(),
            folder: folder,
            arguments: ["--slots", "8"]
        )
        #expect(daemon.program.line(containing: "tick succeeded") != nil)
        for task in ["honour-cancel", "ignore-cancel"] {
            #expect(try daemon.command(["trigger", task]).exitCode == 0)
        }
        daemon.program.signal(SIGSTOP)
        // All of their times pass now, and six of the interval's.
        _ = try Command.run(["/bin/sleep", "6"])
        daemon.program.signal(SIGCONT)

        // A run that is cancelled late has its whole grace from then on.
        #expect(daemon.program.line(containing: "honour-cancel cancelledClean after") != nil)
        #expect(daemon.program.line(containing: "ignore-cancel killed(graceExceeded)") != nil)
        for task in ["honour-cancel", "ignore-cancel"] {
            #expect(try runs(task, daemon).count == 1)
        }
        // One run for three times or more, so there are that many fewer than seconds.
        let late = daemon.program.lines.filter {
            $0.contains("tick missed") && $0.contains("running once")
        }
        // Behind `missed`; the times of the day have colons.
        let times =
            late.compactMap { $0.split(separator: " ").lazy.compactMap { Int($0) }.last }.max() ?? 0
        #expect(times >= 3, "\(late)")
        let ticks = try runs("tick", daemon).count
        let seconds = Int((clock.now - start).components.seconds)
        #expect(ticks <= seconds - times + 2, "\(ticks) in \(seconds) s")
        #expect(daemon.stop() == 0)
        let ends = daemon.program.lines.count {
            $0.contains("honour-cancel cancelledClean") || $0.contains("ignore-cancel killed(")
        }
        #expect(ends == 2, "\(daemon.program.lines)")
    }
}
