// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Transfers of the real daemon, which is killed in their middle.
@Suite(.ownThreads, .serialized) struct TransferProgramTests {
    private static let bytes = 1 << 20
    private static let hold = 768 << 10

    private func manifest(_ server: FileServer, _ folder: TemporaryDirectory) throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"t": {"library": "\(try Fixture.library("transfer"))",
                               "permissions": {"network": ["\(server.grant)"]}}},
             "sessions": {"s": {"plugin": "t", "handler": "wake"}},
             "tasks": {"await": {"plugin": "t"}, "begin": {"plugin": "t"}}}
            """,
            to: "tasks.json"
        )
    }

    private func server(holdAt: Int?) throws -> FileServer {
        var generator = SeededGenerator(seed: 11)
        return try FileServer(
            (0..<Self.bytes).map { _ in UInt8.random(in: 0...255, using: &generator) },
            holdAt: holdAt
        )
    }

    private func parameters(_ server: FileServer) -> String {
        #"{"url":"\#(server.url)","session":"s"}"#
    }

    @Test(.timeLimit(.minutes(5)))
    func `A server that asked for an hour gets it, although the daemon is killed and started`()
        throws
    {
        let folder = try TemporaryDirectory()
        let server = try server(holdAt: nil)
        defer { server.close() }
        let manifest = try manifest(server, folder)
        let first = try TestDaemon(manifest: manifest, folder: folder)
        let parameters = #"{"url":"\#(server.busyURL)","session":"s"}"#
        let run = try first.command(["trigger", "begin", "--wait", "--parameters", parameters])
        #expect(run.exitCode == 0, "\(run.error)")
        // The answer is on its way while the run ends.
        var list = ""
        for _ in 0..<1000 where !list.contains("retrying") {
            list = try first.command(["transfers", "--json"]).output
        }
        #expect(list.contains(#""state":"retrying""#), "\(list)")
        first.program.signal(SIGKILL)
        #expect(first.program.end() == -SIGKILL)

        let second = try TestDaemon(manifest: manifest, folder: folder)
        let after = try second.command(["transfers"]).output
        let wait = try #require(after.firstMatch(of: #/its next attempt in (\d+)\./#), "\(after)")
        #expect((3000...3601).contains(try #require(Int(wait.1))), "\(after)")
        #expect(second.stop() == 0)
        #expect(server.seen.count == 1)
    }

    @Test(.timeLimit(.minutes(5)))
    func `After kill -9 the daemon resumes its transfer and reports its end once`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let server = try server(holdAt: Self.hold)
        defer { server.close() }
        let manifest = try manifest(server, folder)
        let first = try TestDaemon(manifest: manifest, folder: folder)
        // The run that waits for it dies with the daemon.
        let begun = try first.command(["trigger", "await", "--parameters", parameters(server)])
        #expect(begun.exitCode == 0, "\(begun.error)")
        await server.held()
        #expect(waitForFile(in: first.state + "/data/t", bytes: Self.hold / 2))
        let list = try first.command(["transfers", "--json"])
        #expect(list.output.contains(#""state":"active""#), "\(list.output)")
        #expect(list.output.contains(#""awaited":true"#), "\(list.output)")
        kill(first.program.pid, SIGKILL)
        #expect(first.program.end() == -SIGKILL)
        server.release()

        let second = try TestDaemon(manifest: manifest, folder: folder)
        #expect(second.program.line(containing: "wake 1 attempt 1") != nil)
        let told = try #require(second.program.line(containing: "told {"))
        #expect(told.contains("done"))
        // The lines of the run begin with its task as well.
        #expect(second.program.line(containing: "urlSession.s succeeded") != nil)
        let metrics = try second.command(["metrics"]).output.split(separator: "\n")
        #expect(metrics.contains("bghost_transfers 0"))
        #expect(metrics.contains(#"bghost_transfers_ended_total{result="done"} 1"#))
        #expect(second.stop() == 0)

        let seen = server.seen
        #expect(seen.count == 2)
        let start = try #require(seen.last?.rangeStart)
        #expect(start >= Self.hold / 2 && start <= Self.hold, "it went on at \(start)")
        let received = #"bghost_transfer_bytes_total{direction="received"} "#
        #expect(metrics.contains("\(received)\(Self.bytes - start)"))
        // The body came once, but for what was still on its way when the daemon died.
        #expect(server.sent == Self.hold + Self.bytes - start)
        let names = try File.list(second.state + "/data/t")
        // Its run has succeeded, so what the host had kept is gone.
        #expect(names.isEmpty, "\(names)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `bghost transfers shows progress by line and cancels`() async throws {
        let folder = try TemporaryDirectory()
        let server = try server(holdAt: Self.hold)
        defer { server.close() }
        let daemon = try TestDaemon(manifest: try manifest(server, folder), folder: folder)
        #expect(try daemon.command(["transfers"]).output == "no transfers\n")
        let run = try daemon.command([
            "trigger", "begin", "--wait", "--parameters", parameters(server),
        ])
        #expect(run.exitCode == 0, "\(run.error)")
        await server.held()
        let status = try daemon.command(["status"])
        #expect(status.output.contains("1 transfer in progress"), "\(status.output)")
        let list = try daemon.command(["transfers", "list"])
        #expect(list.output.contains("active"), "\(list.output)")
        #expect(list.output.contains(server.url))
        let json = try JSONReader.parse(try daemon.command(["transfers", "--json"]).output)
        let id = try #require(json["transfers"]?.array?.first?["id"]?.string)
        let show = try daemon.command(["transfers", "show", String(id.prefix(20))])
        #expect(show.output.contains(id), "\(show.output)")
        let unknown = try daemon.command(["transfers", "cancel", "7ZZZ"])
        #expect(unknown.exitCode == 4, "\(unknown.error)")
        #expect(unknown.error.contains("BG5001"))
        let cancel = try daemon.command(["transfers", "cancel", id])
        #expect(cancel.output.contains("cancelled"), "\(cancel.output)\(cancel.error)")
        #expect(daemon.program.line(containing: "told {") != nil)
        #expect(daemon.stop() == 0)
    }
}
