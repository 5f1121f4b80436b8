// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostControl
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

/// Dead letters, from the client through the API and back, and as commands.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct DeadLetterRouteTests {
    private func letter(_ task: String = "com.acme.storm", _ number: UInt64 = 1) -> DeadLetter {
        DeadLetter(
            request: Request(
                id: RunID(high: number, low: number),
                task: task,
                parameters: #"{"city":"Köln"}"#,
                submittedAt: 1_795_278_660_000_000_000,
                latestBegin: 1_795_278_669_000_000_000,
                priority: 700,
                submitter: .run(RunID(high: 7, low: 8)),
                counters: AttemptCounters(failures: 5, losses: 1, interruptions: 2)
            ),
            reason: "it failed 5 times\u{1B}[2J",
            run: RunID(high: 3, low: 4),
            diedAt: 1_795_278_664_000_000_000
        )
    }

    private func command(
        _ arguments: [String],
        _ serving: Serving
    ) async throws -> Command.Result {
        try await Bghost.run(arguments + ["--control", serving.socketPath])
    }

    @Test func `Dead letters arrive whole`() async throws {
        let host = try await TestHost.start(stored: .dead(letter()))
        try await Serving.with(host) { serving in
            let letters = try await serving.ask {
                try await $0.deadLetters(task: nil).value.letters
            }
            #expect(letters == [letter()])
            let text = try await command(["dead"], serving).output
            #expect(text.contains(#"it failed 5 times\u{1B}[2J"#))
            #expect(
                try await command(["dead", "com.acme.photos"], serving).output
                    == "no dead letters\n"
            )
            #expect(try await command(["dead", "com.acme.strom"], serving).exitCode == 4)
        }
    }

    @Test func `Redrives and discards`() async throws {
        let dead = [
            letter("com.acme.storm", 2), letter("com.acme.storm", 3), letter("com.acme.storm", 4),
            letter("gone", 5),
        ]
        let host = try await TestHost.start(stored: dead.flatMap { [StoreChange].dead($0) })
        try await Serving.with(host) { serving in
            await host.holdPlugin()
            func left() async -> Set<String> {
                Set(await host.control.deadLetters(task: nil, limit: 9).map { "\($0.request.id)" })
            }
            let ids = dead.map { "\($0.request.id)" }
            let one = try await command(["redrive", ids[0]], serving)
            #expect(one.exitCode == 0, "\(one)")
            #expect(one.output == "request \(ids[0]) of com.acme.storm waits for a run again\n")
            let again = try await command(["redrive", ids[0]], serving)
            #expect(again.exitCode == 4 && again.error.contains("BG4016"), "\(again)")
            let many = try await command(["discard", "0"], serving)
            #expect(many.exitCode == 64 && many.error.contains("BG4017"), "\(many)")
            #expect(await left() == Set(ids.dropFirst()))
            let discarded = try await command(["discard", ids[1]], serving)
            #expect(discarded.output.hasSuffix("is deleted\n"), "\(discarded)")
            #expect(await left() == Set(ids.dropFirst(2)))
            let rest = try await command(["redrive", "--all"], serving)
            #expect(rest.exitCode == 1, "\(rest)")
            #expect(rest.output.split(separator: "\n").count == 1)
            #expect(rest.error.contains("stays dead: the manifest has no task gone"))
            #expect(await left() == [ids[3]])
            let none = try await command(["redrive", "--task", "com.acme.storm"], serving)
            #expect(none.exitCode == 4 && none.error.contains("BG4018"), "\(none)")
            let json = try await command(["discard", "--task", "gone", "--json"], serving)
            let answer = try JSONReader.parse(json.output)
            #expect(answer["schema"]?.string == "bghost.discard/1")
            #expect(answer["requests"]?.array?.count == 1)
            #expect(await left().isEmpty)
            let waiting = await host.control.pending(task: nil, limit: 9).requests
            #expect(Set(waiting.map { "\($0.id)" }) == [ids[0], ids[2]])
        }
    }

    @Test(arguments: ["", "?all=false", "?all=true&task=a", "?task=a&request=01", "?all=7"])
    func `Refuses to guess which dead letters are meant`(query: String) async throws {
        let host = try await TestHost.start(stored: .dead(letter()))
        try await Serving.with(host) { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/dead/discard\(query) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(await host.control.deadLetters(task: nil, limit: 2) == [letter()])
        }
    }
}
