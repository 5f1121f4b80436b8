// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostControl
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

/// Checkpoints of requests, from the client through the API and back, and as commands.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct CheckpointRouteTests {
    private func command(
        _ arguments: [String],
        _ serving: Serving
    ) async throws -> Command.Result {
        try await Bghost.run(arguments + ["--control", serving.socketPath])
    }

    @Test func `A checkpoint is shown with its run, and deleted once`() async throws {
        var checkpoint = saved(1)
        (checkpoint.length, checkpoint.attempt) = (1536, 1)
        let stored = checkpoint
        try await Serving.with(try await .start(stored: .saved(stored))) { serving in
            let (run, request) = (stored.run, stored.request)
            try await serving.ask { client in
                #expect(try await client.run("\(run)").value.details?.checkpoint == stored)
                let runs = try await client.runs(task: nil, limit: nil).value
                #expect(runs.count == 1 && runs.allSatisfy { $0.details == nil })
            }
            let shown = try await command(["show", "\(run)"], serving).output
            #expect(shown.contains("1.5 KiB of attempt 1, saved"), "\(shown)")
            let json = try await command(
                ["checkpoint", "delete", "\(request)", "--json"],
                serving
            )
            let answer = try JSONReader.parse(json.output)
            #expect(answer["schema"]?.string == "bghost.checkpoint.delete/1")
            #expect(answer["checkpoint"]?["bytes"]?.text == "1536")
            let again = try await command(["checkpoint", "delete", "\(request)"], serving)
            #expect(again.exitCode == 4 && again.error.contains("error[BG4040]"), "\(again)")
        }
    }

    /// A checkpoint of a request that began at this second.
    private func saved(
        _ second: UInt64,
        _ task: String = "com.acme.storm",
        plugin: String = "storm"
    ) -> CheckpointSummary {
        CheckpointSummary(
            request: RunID(high: second * 1000 << 16, low: 1),
            task: task,
            plugin: plugin,
            run: RunID(high: second * 1000 << 16, low: 2),
            epoch: 7,
            attempt: 3,
            savedAt: 1_795_278_660_000_000_000,
            length: 2048
        )
    }

    @Test func `Checkpoints are listed in pages, and selected by task and plugin`() async throws {
        let all = [saved(3), saved(2, "com.acme.sync", plugin: "sync"), saved(1)]
        let host = try await TestHost.start(stored: all.flatMap { [StoreChange].saved($0) })
        try await Serving.with(host) { serving in
            try await serving.ask { client in
                let first = try await client.checkpoints(limit: 2).value
                #expect(first.checkpoints == Array(all.prefix(2)))
                let next = try #require(first.next)
                #expect(PageCursor(next) == .checkpoints(request: all[1].request))
                let rest = try await client.checkpoints(cursor: next, limit: 2).value
                #expect(rest.checkpoints == [all[2]] && rest.next == nil)
                let chosen = try await client.checkpoints(task: "com.*", plugin: "sync").value
                #expect(chosen.checkpoints == [all[1]] && chosen.next == nil)
                let others = try await client.checkpoints(task: "com.acme.storm").value
                #expect(others.checkpoints == [all[0], all[2]])
                for cursor in ["x", PageCursor.starts(due: 1, number: 2).text] {
                    let fault = await fault { _ = try await client.checkpoints(cursor: cursor) }
                    #expect(fault?.code == .badCursor, "\(cursor)")
                }
                let unknown = await fault { _ = try await client.checkpoints(task: "nosuch") }
                #expect(unknown?.code == .noSuchTask)
            }
            let connection = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send("GET /v1/checkpoints?tasks=a HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return connection.receiveAnswer()
            }
            #expect(connection.hasPrefix("HTTP/1.1 400 "), "\(connection)")
            #expect(connection.contains("has no query key"), "\(connection)")
        }
    }

    @Test func `The command lists checkpoints, also as JSON`() async throws {
        try await Serving.with { serving in
            let none = try await command(["checkpoints"], serving)
            #expect(none.exitCode == 0 && none.output == "no checkpoints\n", "\(none)")
        }
        let stored = [1, 2].flatMap { [StoreChange].saved(saved($0)) }
        try await Serving.with(try await .start(stored: stored)) { serving in
            let list = try await command(["checkpoints", "--limit", "1"], serving).output
            let lines = list.split(separator: "\n").map {
                $0.split(separator: "  ").map { $0.drop { $0 == " " } }.map(String.init)
            }
            #expect(
                lines.first == ["REQUEST", "TASK", "PLUGIN", "SAVED", "SIZE", "ATTEMPT", "RUN"],
                "\(list)"
            )
            let row = try #require(lines.dropFirst().first)
            let newest = saved(2)
            #expect(row.count == 7, "\(row)")
            #expect(Array(row.prefix(3)) == ["\(newest.request)", "com.acme.storm", "storm"])
            #expect(Array(row.suffix(3)) == ["2 KiB", "3", "\(newest.run)"])
            let cursor = PageCursor.checkpoints(request: newest.request).text
            #expect(list.hasSuffix("there may be more: --cursor \(cursor)\n"), "\(list)")
            let json = try await command(
                ["checkpoints", "list", "--task", "com.acme.storm", "--json"],
                serving
            )
            let answer = try JSONReader.parse(json.output)
            #expect(answer["schema"]?.string == "bghost.checkpoints/1")
            let first = try #require(answer["checkpoints"]?.array?.first)
            #expect(first["request"]?.string == newest.request.description)
            #expect(first["checkpoint"]?["bytes"]?.text == "2048")
            let wrong = try await command(["checkpoints", "--limit", "0"], serving)
            #expect(wrong.exitCode == 64 && wrong.error.contains("--limit must be"), "\(wrong)")
            // The name that the command had first.
            let old = try await command(["checkpoint", "delete", "\(newest.request)"], serving)
            #expect(old.exitCode == 0, "\(old)")
        }
    }
}
