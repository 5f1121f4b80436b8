// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// How a schedule starts its task, in the real daemon, which is killed in between.
@Suite(.ownThreads) struct ScheduleProgramTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func manifest(_ task: String) throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"m": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {"report": {"plugin": "m", "handler": "succeed", \(task)}}}
            """,
            to: "tasks.json"
        )
    }

    private func json(_ daemon: TestDaemon, _ arguments: String...) throws -> JSONNode {
        let result = try daemon.command(arguments + ["--json"])
        return try JSONReader.parse(result.output.isEmpty ? result.error : result.output)
    }

    /// Returns when what the daemon has decided so far is stored: changes are stored in their order, and the
    /// answer to a verb comes once its own is.
    private func untilStored(_ daemon: TestDaemon) throws {
        for verb in ["disable", "enable"] {
            #expect(try daemon.command([verb, "m"]).exitCode == 0)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A random delay is stored, shown, and kept over kill -9`() throws {
        let manifest = try manifest(#""every": "2h", "randomDelay": "1h""#)
        var daemon = try TestDaemon(manifest: manifest, folder: folder)
        let first = try #require(try json(daemon, "pending")["requests"]?.array?.first)
        let date = try #require(first["earliestBegin"]?.string)
        let start = try #require(Timestamp.unixNanoseconds(date))
        let time = try #require(
            first["submittedAt"]?.string.flatMap { Timestamp.unixNanoseconds($0) }
        )
        let hour: Int64 = 3_600_000_000_000
        #expect((time + 2 * hour - hour / 60...time + 3 * hour + hour / 60).contains(start))
        try untilStored(daemon)
        for _ in 1...2 {
            daemon.program.signal(SIGKILL)
            #expect(daemon.program.end() == -SIGKILL)
            daemon = try TestDaemon(manifest: manifest, folder: folder)
            let pending = try json(daemon, "pending")["requests"]?.array ?? []
            #expect(pending.compactMap { $0["id"]?.string } == [first["id"]?.string])
            #expect(pending.first?["earliestBegin"]?.string == date)
        }
        let why = try daemon.command(["why", "report"])
        #expect(why.output.contains("delayed by up to 1h at random"), "\(why)")
        #expect(why.output.contains("each start up to 1h later at random"), "\(why)")
        let status = try json(daemon, "status")["tasks"]?.array ?? []
        #expect(status.first?["pending"]?["earliestBegin"]?.string == date, "\(status)")
        let plan = try Command.run([
            Artifact.path("bghost"), "plan", "--config", manifest, "--from", "2026-03-01T00:00:00Z",
            "--limit", "1",
        ])
        #expect(plan.output.contains("at random until 01:00:00"), "\(plan)")
        #expect(daemon.stop() == 0)
    }

    @Test func `check refuses a delay that reaches the next start`() throws {
        let manifest = try manifest(#""calendar": "*/10 * * * *", "randomDelay": "15m""#)
        let check = try Command.run([Artifact.path("bghost"), "check", "--config", manifest])
        #expect(check.exitCode != 0)
        #expect((check.output + check.error).contains("BG1077"), "\(check)")
        #expect((check.output + check.error).contains("shorter than 10m"), "\(check)")
    }

    @Test(.timeLimit(.minutes(5)), .enabled(if: hasMounts, "only root can mount another boot id"))
    func `A task starts once in a boot of the machine, also over kill -9`() throws {
        let manifest = try manifest(#""onBoot": true"#)
        for (number, boot) in ["1b4e28ba", "6fa459ea"].enumerated() {
            let id = try folder.write("\(boot)-2fa1-41d2-883f-0016d3cca427\n", to: boot)
            let prefix = [
                "unshare", "--mount", "--", "sh", "-c",
                #"mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@""#, id,
            ]
            var daemon = try TestDaemon(manifest: manifest, folder: folder, prefix: prefix)
            #expect(daemon.program.line(containing: "report succeeded") != nil)
            try untilStored(daemon)
            for _ in 1...2 {
                daemon.program.signal(SIGKILL)
                #expect(daemon.program.end() == -SIGKILL)
                daemon = try TestDaemon(manifest: manifest, folder: folder, prefix: prefix)
                // What the daemon submits at its start is accepted before it listens.
                #expect(try json(daemon, "pending")["requests"]?.array?.isEmpty == true)
                #expect(try json(daemon, "runs")["runs"]?.array?.count == number + 1)
            }
            let why = try daemon.command(["why", "report"])
            #expect(why.output.contains("schedule: at each boot, no further start"), "\(why)")
            #expect(daemon.stop() == 0)
        }
    }
}

/// Whether a process may have mounts of its own.
private let hasMounts =
    geteuid() == 0 && (try? Command.run(["unshare", "--mount", "true"]))?.exitCode == 0
