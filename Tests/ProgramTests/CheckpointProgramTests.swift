// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Checkpoints in the real daemon, which is killed meanwhile.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct CheckpointProgramTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func start() throws -> TestDaemon {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"p": {"library": "\(try Fixture.library("checkpoint"))"}},
             "tasks": {"step": {"plugin": "p", "limits": {"runtime": "5m"},
                       "retry": {"policy": "exponential", "base": "1ms", "max": 9}}}}
            """,
            to: "tasks.json"
        )
        return try TestDaemon(manifest: manifest, folder: folder)
    }

    private func attempt(_ number: Int, loads text: String, _ daemon: TestDaemon) {
        let line = daemon.program.line(containing: "attempt \(number) loaded")
        #expect(line?.contains("loaded \(text), saved 0") == true, "\(line ?? "no line")")
    }

    @Test func `Each attempt goes on from the checkpoint of the last, over kill -9`() throws {
        var daemon = try start()
        let submitted = try daemon.command([
            "submit", "step", "--parameters", #"{"plan": "pppppp"}"#,
        ])
        #expect(submitted.exitCode == 0, "\(submitted)")
        attempt(1, loads: #"-16 """#, daemon)
        for number in 2...7 {
            daemon.program.signal(SIGKILL)
            #expect(daemon.program.end() == -SIGKILL)
            daemon = try start()
            attempt(number, loads: #"0 "attempt \#(number - 1)""#, daemon)
        }
        #expect(daemon.program.line(containing: "succeeded") != nil)
        let list = try JSONReader.parse(try daemon.command(["runs", "--json"]).output)
        let runs = list["runs"]?.array ?? []
        #expect(runs.count == 7)
        #expect(runs.first?["outcome"]?.string == "succeeded")
        let id = try #require(runs.first?["id"]?.string)
        let shown = try JSONReader.parse(try daemon.command(["show", id, "--json"]).output)
        #expect(shown["run"] != nil && shown["run"]?["checkpoint"] == nil)
        #expect(daemon.stop() == 0)
    }

    @Test func `An operator sees and deletes a checkpoint, and the audit says who`() throws {
        let daemon = try start()
        let submitted = try daemon.command([
            "submit", "step", "--json", "--parameters", #"{"plan": "p"}"#,
        ])
        let answer = try JSONReader.parse(submitted.output)
        let request = try #require(answer["request"]?["id"]?.string)
        attempt(1, loads: #"-16 """#, daemon)
        let list = try JSONReader.parse(try daemon.command(["runs", "--json"]).output)
        let run = try #require(list["runs"]?.array?.first?["id"]?.string)
        let shown = try daemon.command(["show", run]).output
        #expect(shown.contains("9 B of attempt 1, saved"), "\(shown)")

        let rows = try daemon.command(["checkpoints", "--task", "step", "--plugin", "p"]).output
        #expect(rows.contains(request) && rows.contains(run) && rows.contains("9 B"), "\(rows)")

        let deleted = try daemon.command(["checkpoints", "delete", request])
        #expect(
            deleted.output == "deleted the checkpoint of \(request), a request of step, saved by"
                + " attempt 1\n",
            "\(deleted)"
        )
        #expect(try daemon.command(["checkpoints"]).output == "no checkpoints\n")
        let again = try daemon.command(["checkpoints", "delete", request])
        #expect(again.exitCode == 4 && again.error.contains("error[BG4040]"), "\(again)")
        let audit = try daemon.command(["audit", "--verb", "checkpoint delete"]).output
        #expect(audit.contains(request), "\(audit)")
        #expect(try daemon.command(["show", run]).output.contains("checkpoint") == false)
        // The next attempt begins from the start.
        let pid = try #require(list["runs"]?.array?.first?["pid"].flatMap { pid_t($0.text) })
        kill(pid, SIGKILL)
        attempt(2, loads: #"-16 """#, daemon)
        #expect(daemon.stop() == 0)
    }

    @Test func `A request that waits for its next attempt says that it has a checkpoint`() throws {
        let daemon = try start()
        let submitted = try daemon.command([
            "submit", "step", "--json", "--parameters", #"{"plan": "p"}"#,
        ])
        let answer = try JSONReader.parse(submitted.output)
        let request = try #require(answer["request"]?["id"]?.string)
        attempt(1, loads: #"-16 """#, daemon)
        // The next attempt waits for the end of the pause.
        #expect(try daemon.command(["pause", "step"]).exitCode == 0)
        let runs = try JSONReader.parse(try daemon.command(["runs", "--json"]).output)
        kill(try #require(runs["runs"]?.array?.first?["pid"].flatMap { pid_t($0.text) }), SIGKILL)
        #expect(daemon.program.line(containing: "step crashed(SIGKILL)") != nil)
        let why = try daemon.command(["why", request]).output
        #expect(why.contains("checkpoint: 9 B of attempt 1, saved "), "\(why)")
        #expect(why.contains("`bghost checkpoints delete \(request)` deletes it"), "\(why)")
        let json = try JSONReader.parse(try daemon.command(["why", request, "--json"]).output)
        let explained = try #require(json["requests"]?.array?.first)
        #expect(explained["checkpoint"]?["bytes"]?.text == "9")
        let deleted = try daemon.command(["checkpoints", "delete", request])
        #expect(deleted.exitCode == 0, "\(deleted)")
        #expect(try daemon.command(["why", request]).output.contains("checkpoint") == false)
        #expect(daemon.stop() == 0)
    }
}
