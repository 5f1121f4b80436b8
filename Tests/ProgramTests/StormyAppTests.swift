// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// The whole story of the stormy noon with the real daemon, which is killed in the middle of it, a real
/// server and workers that crash.
@Suite(.ownThreads) struct StormyAppTests {
    private static let bytes = 1 << 20
    private static let hold = 768 << 10

    private func manifest(_ server: FileServer, _ folder: TemporaryDirectory) throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"app": {"library": "\(try Fixture.library("stormy-app"))",
                                 "permissions": {"network": ["\(server.grant)"], "notify": true}}},
             "sessions": {"weather": {"plugin": "app", "handler": "wake"},
                          "photos": {"plugin": "app", "handler": "wake"}},
             "tasks": {"StormyNoon": {"plugin": "app", "handler": "noon",
                                      "limits": {"runtime": "10m", "grace": "60s"}},
                       "tell.*": {"plugin": "app", "handler": "deliver", "overlap": "allow"}},
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

    /// The longest pause before the first retry of a session's run, with some time to run it.
    private static let retrySeconds: Int32 = 30 + 120

    /// Expects that the first run for a session crashes, and that its retry does not.
    private func expectTwoWakes(of session: String, _ daemon: TestDaemon) {
        let wake = "wake of \(session), attempt"
        #expect(daemon.program.line(containing: "\(wake) 1, posted 0") != nil)
        #expect(daemon.program.line(containing: "urlSession.\(session) crashed(SIGABRT)") != nil)
        // The pause is random and counts on the monotonic clock, so no simulated clock shortens it.
        let second = daemon.program.line(
            containing: "\(wake) 2, posted 0",
            within: Self.retrySeconds
        )
        #expect(second != nil)
    }

    @Test(.timeLimit(.minutes(10)))
    func `The weather download outlives run and daemon, and a tap sends a photo`() async throws {
        let folder = try TemporaryDirectory()
        var generator = SeededGenerator(seed: 7)
        let server = try FileServer(
            (0..<Self.bytes).map { _ in UInt8.random(in: 0...255, using: &generator) },
            holdAt: Self.hold
        )
        defer { server.close() }
        let manifest = try manifest(server, folder)
        let first = try TestDaemon(manifest: manifest, folder: folder)
        let data = first.state + "/data/app"

        // Noon: the handler submits the next noon before the first byte, and the response is slow.
        let noon = try first.command([
            "submit", "StormyNoon", "--parameters", #"{"url":"\#(server.url)"}"#,
        ])
        #expect(noon.exitCode == 0, "\(noon.error)")
        await server.held()
        #expect(waitForFile(in: data, bytes: Self.hold / 2))
        let pending = try json(first, "pending")["requests"]?.array
        #expect(pending?.map { $0["task"]?.string } == ["StormyNoon"])

        // It is expired: it ends cleanly and earns no throttle point, and its transfer continues.
        let run = try json(first, "runs", "StormyNoon")["runs"]?.array?.first?["id"]?.string
        #expect(try first.command(["expire", try #require(run)]).exitCode == 0)
        #expect(first.program.line(containing: "cancelledClean after") != nil)
        #expect(try json(first, "throttle")["tasks"]?.array?.isEmpty == true)
        let transfer = try #require(try json(first, "transfers")["transfers"]?.array?.first)
        #expect(transfer["state"]?.string == "active" && transfer["awaited"]?.bool == false)

        first.program.signal(SIGKILL)
        #expect(first.program.end() == -SIGKILL)
        server.release()

        // The rest of the same body; the wake crashes once it has posted, and is told again.
        let second = try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
        expectTwoWakes(of: "weather", second)
        let start = try #require(server.seen.last?.rangeStart)
        #expect(server.seen.count == 2 && start >= Self.hold / 2 && start <= Self.hold)
        #expect(server.sent == Self.hold + Self.bytes - start)
        #expect(second.program.line(containing: "notification `storm` of `app`") != nil)

        // A stored tap sends the photo; a wake of its own reports its arrival.
        let tap = try second.command(["notify", "act", "storm", "upload"])
        #expect(tap.exitCode == 0, "\(tap)")
        expectTwoWakes(of: "photos", second)
        #expect(second.program.line(containing: "notification `sent` of `app`") != nil)
        let photos = server.seen.filter { $0.method == "PUT" }
        #expect(photos.map(\.body) == [[UInt8](repeating: UInt8(ascii: "p"), count: 1 << 18)])

        // One notification each, whatever was posted again.
        let outbox = try json(second, "notify", "outbox")["notifications"]?.array
        #expect(outbox?.map { $0["id"]?.string } == ["storm", "sent"])
        #expect(outbox?.map { $0["state"]?.string } == ["delivered", "delivered"])
        let told = String(decoding: try File.read(data + "/told"), as: UTF8.self)
            .split(separator: "\n")
        let titles = Set(try told.map { try JSONReader.parse(String($0))["title"]?.string })
        #expect(titles == ["A storm of \(Self.bytes) bytes", "The photo is there"])
        // The noon itself ran once; what it asked for still waits.
        let runs = try json(second, "runs")["runs"]?.array ?? []
        #expect(runs.count { $0["task"]?.string == "StormyNoon" } == 1)
        let waiting = try json(second, "pending")["requests"]?.array
        #expect(waiting?.map { $0["task"]?.string } == ["StormyNoon"])
        #expect(second.stop() == 0)
    }
}
