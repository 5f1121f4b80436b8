// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostControl
import BghostModel
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
        let host = MemoryHost()
        let run = await host.begin("com.acme.storm")
        let checkpoint = CheckpointSummary(of: run, length: 1536, now: 1_795_278_660_000_000_000)
        await host.save(checkpoint)
        try await Serving.with(host) { serving in
            try await serving.ask { client in
                #expect(try await client.run("\(run.id)").value.details?.checkpoint == checkpoint)
                let runs = try await client.runs(task: nil, limit: nil).value
                #expect(runs.count == 1 && runs.allSatisfy { $0.details == nil })
            }
            let shown = try await command(["show", "\(run.id)"], serving).output
            #expect(shown.contains("1.5 KiB of attempt 1, saved"), "\(shown)")
            let json = try await command(
                ["checkpoint", "delete", "\(run.request)", "--json"],
                serving
            )
            let answer = try JSONReader.parse(json.output)
            #expect(answer["schema"]?.string == "bghost.checkpoint.delete/1")
            #expect(answer["checkpoint"]?["bytes"]?.text == "1536")
            let again = try await command(["checkpoint", "delete", "\(run.request)"], serving)
            #expect(again.exitCode == 4 && again.error.contains("error[BG4040]"), "\(again)")
        }
    }
}
