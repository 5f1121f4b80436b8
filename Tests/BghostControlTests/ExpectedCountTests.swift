// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostModel
import BghostControl
import BghostPolicy
import BghostTestSupport
import Testing

/// Changes of many requests that say how many there must be.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct ExpectedCountTests {
    private func command(
        _ arguments: [String],
        _ serving: Serving
    ) async throws -> Command.Result {
        try await Bghost.run(arguments + ["--control", serving.socketPath])
    }

    @Test func `Requests are withdrawn only if as many wait as expected`() async throws {
        let host = try await TestHost.start { manifest in
            for index in 0..<2 { manifest.tasks[index].tags = ["nightly"] }
        }
        try await Serving.with(host) { serving in
            await host.holdPlugin()
            let host = host.control
            _ = try await host.submit(Submission(task: "com.acme.storm"))
            _ = try await host.submit(Submission(task: "com.acme.photos"))
            let many = try await command(["cancel", "--all", "--expect", "1"], serving)
            #expect(many.exitCode == 1)
            #expect(many.error.contains("[BG4074]"))
            #expect(
                many.error.contains(
                    "nothing was done: 1 pending request was expected, and there are 2"
                )
            )
            #expect(many.error.contains("bghost pending"))
            let few = try await command(
                ["cancel", "--tag", "nightly", "--expect", "3"],
                serving
            )
            #expect(few.exitCode == 1 && few.error.contains("[BG4074]"), "\(few)")
            let none = try await command(["cancel", "com.acme.storm", "--expect", "0"], serving)
            #expect(none.error.contains("0 pending requests were expected, and there is 1"))
            #expect(await host.pending(task: nil, limit: 10).total == 2)

            let one = try await command(["cancel", "com.acme.storm", "--expect", "1"], serving)
            #expect(one.exitCode == 0, "\(one)")
            let tagged = try await command(
                ["cancel", "--tag", "nightly", "--expect", "1"],
                serving
            )
            #expect(tagged.exitCode == 0, "\(tagged)")
            #expect(await host.pending(task: nil, limit: 10).total == 0)
        }
    }

    /// A request of storm that is dead.
    private static let letter = DeadLetter(
        request: Request(
            id: RunID(high: 1, low: 1),
            task: "com.acme.storm",
            parameters: "{}",
            submittedAt: 1_700_000_000_000_000_000,
            priority: 500
        ),
        reason: "it failed",
        run: RunID(high: 2, low: 2),
        diedAt: 1_700_000_001_000_000_000
    )

    @Test func `The number of dead letters reaches the host, and its refusal the user`()
        async throws
    {
        let host = try await TestHost.start(stored: .dead(Self.letter))
        try await Serving.with(host) { serving in
            let changed = try await command(
                ["discard", "--task", "com.acme.storm", "--expect", "7"],
                serving
            )
            #expect(changed.exitCode == 1)
            #expect(changed.error.contains("[BG4074]"))
            #expect(changed.error.contains("7 dead letters were expected, and there is 1"))
            #expect(await host.control.deadLetters(task: nil, limit: 2) == [Self.letter])
            let all = try await command(["redrive", "--all"], serving)
            #expect(all.exitCode == 0, "\(all)")
            #expect(await host.control.deadLetters(task: nil, limit: 2).isEmpty)
        }
    }

    @Test(arguments: ["-1", "2000000000", "many"])
    func `What is no number of requests is refused`(number: String) async throws {
        let host = try await TestHost.start(stored: .dead(Self.letter))
        try await Serving.with(host) { serving in
            await host.holdPlugin()
            let host = host.control
            _ = try await host.submit(Submission(task: "com.acme.storm"))
            for words in [["cancel", "--all"], ["redrive", "--all"], ["discard", "--all"]] {
                let refused = try await command(words + ["--expect=\(number)"], serving)
                #expect(refused.exitCode == 64, "\(refused)")
            }
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "DELETE /v1/pending?expected=\(number) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(answer.contains("`expected` must be a whole number"))
            #expect(await host.deadLetters(task: nil, limit: 2) == [Self.letter])
            #expect(await host.pending(task: nil, limit: 10).total == 1)
        }
    }
}
