// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// A request that has taken over the dates of a schedule's start, in the real daemon, which is killed.
@Suite(.ownThreads) struct TakenOverStartProgramTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func write(_ schedule: String) throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"m": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {"report": {"plugin": "m", "handler": "echo"\(schedule)}}}
            """,
            to: "tasks.json"
        )
    }

    private func pending(_ daemon: TestDaemon) throws -> [JSONNode] {
        let result = try daemon.command(["pending", "--json"])
        return try #require(try JSONReader.parse(result.output)["requests"]?.array)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A reload, a pause and kill -9 leave it with its parameters`() throws {
        let manifest = try write(#", "calendar": "0 3 1 1 *""#)
        var daemon = try TestDaemon(manifest: manifest, folder: folder)
        let start = try #require(try pending(daemon).first?["earliestBegin"]?.string)
        let submitted = try daemon.command([
            "submit", "report", "--on-conflict", "update", "--parameters", #"{"order":42}"#,
        ])
        #expect(submitted.exitCode == 0, "\(submitted)")
        let id = try #require(try pending(daemon).first?["id"]?.string)
        func expectKept() throws {
            let requests = try pending(daemon)
            #expect(requests.map { $0["id"]?.string } == [id])
            #expect(requests.first?["earliestBegin"]?.string == start)
            let parameters = requests.first?["parameters"]
            #expect(parameters?.string ?? parameters?.text == #"{"order":42}"#)
        }
        for schedule in [#", "calendar": "0 4 1 1 *""#, ""] {
            _ = try write(schedule)
            #expect(try daemon.command(["reload"]).exitCode == 0)
            try expectKept()
        }
        #expect(try daemon.command(["pause", "report"]).exitCode == 0)
        daemon.program.signal(SIGKILL)
        #expect(daemon.program.end() == -SIGKILL)
        daemon = try TestDaemon(manifest: manifest, folder: folder)
        try expectKept()
        #expect(daemon.stop() == 0)
    }
}
