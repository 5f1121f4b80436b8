// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// The app of the first article with its bodies unchanged, in the real daemon, with a real server.
@Suite(.ownThreads) struct SeedDaemonTests {
    private static let bytes = 1 << 20
    private static let hold = 512 << 10

    private func manifest(_ server: FileServer, _ folder: TemporaryDirectory) throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"stormy": {"library": "\(try SeedLibrary.make("Seed001Stormy", in: folder))",
                                    "config": {"address": "\(server.url)"},
                                    "permissions": {"network": ["\(server.grant)"], "notify": true}},
                         "teller": {"library": "\(try Fixture.library("stormy-app"))"}},
             "sessions": {"isStormy": {"plugin": "stormy"}},
             "tasks": {"StormyNoon": {"plugin": "stormy", "limits": {"runtime": "10m", "grace": "60s"}},
                       "tell.*": {"plugin": "teller", "handler": "deliver", "overlap": "allow"}},
             "notifications": {"task": "tell.*"}}
            """,
            to: "tasks.json"
        )
    }

    private func json(_ daemon: TestDaemon, _ arguments: String...) throws -> JSONNode {
        let result = try daemon.command(arguments + ["--json"])
        try #require(result.exitCode == 0, "\(result)")
        return try JSONReader.parse(result.output)
    }

    @Test(.timeLimit(.minutes(10)))
    func `The transfer outlives its run and the daemon, and its end wakes the app`() async throws {
        let folder = try TemporaryDirectory()
        let text = Array("storm at four. ".utf8)
        let server = try FileServer(
            (0..<Self.bytes).map { text[$0 % text.count] },
            holdAt: Self.hold
        )
        defer { server.close() }
        let manifest = try manifest(server, folder)
        let first = try TestDaemon(manifest: manifest, folder: folder)
        #expect(try first.command(["submit", "StormyNoon"]).exitCode == 0)
        await server.held()
        #expect(waitForFile(in: first.state + "/data/stormy", bytes: Self.hold / 2))

        // The first line of the body has asked for noon tomorrow.
        let pending = try json(first, "pending")["requests"]?.array
        #expect(pending?.map { $0["task"]?.string } == ["StormyNoon"])
        #expect(pending?.first?["earliestBegin"]?.string != nil)

        // Its time is up, as on iOS: `onCancel` lets the request go on as a download, and nothing of
        // that delays the next noon.
        let run = try json(first, "runs", "StormyNoon")["runs"]?.array?.first?["id"]?.string
        #expect(try first.command(["expire", try #require(run)]).exitCode == 0)
        #expect(first.program.line(containing: "StormyNoon succeeded after") != nil)
        #expect(try json(first, "throttle")["tasks"]?.array?.isEmpty == true)
        let transfers = try json(first, "transfers")["transfers"]?.array
        #expect(transfers?.map { $0["state"]?.string } == ["active"])
        #expect(transfers?.first?["awaited"]?.bool == false)

        first.program.signal(SIGKILL)
        #expect(first.program.end() == -SIGKILL)
        server.release()

        let second = try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
        #expect(second.program.line(containing: "urlSession.isStormy succeeded after") != nil)
        #expect(second.program.line(containing: "notification `photo` of `stormy`") != nil)
        // One request and one body, in two parts.
        let start = try #require(server.seen.last?.rangeStart)
        #expect(server.seen.count == 2)
        #expect(server.sent == Self.hold + Self.bytes - start)
        let outbox = try json(second, "notify", "outbox")["notifications"]?.array
        #expect(outbox?.map { $0["id"]?.string } == ["photo"])
        // The daemon forgets it once the store has that the run took it.
        var left: [JSONNode]? = []
        for _ in 0..<1000 {
            left = try json(second, "transfers")["transfers"]?.array
            if left?.isEmpty == true { break }
        }
        #expect(left?.isEmpty == true)
        #expect(second.stop() == 0)
    }
}
