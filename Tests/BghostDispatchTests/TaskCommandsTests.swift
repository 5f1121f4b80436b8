// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import Testing

/// The owner of the commands for pending requests, without a daemon and without a process.
@Suite(.timeLimit(.minutes(5))) struct TaskCommandsTests {
    private final class Reloads {
        var count = 0
    }

    private struct Subject {
        let bench: CommandBench
        let reloads = Reloads()
        let commands: TaskCommands

        init(_ reactor: Reactor) throws {
            let reloads = reloads
            bench = CommandBench(
                reactor,
                try CommandBench.manifest(["job.*", "own"]) { task in
                    if task.identifier.description == "own" { task.tags = ["nightly"] }
                }
            )
            commands = TaskCommands(
                bench.dispatcher,
                bench.commits,
                RequestDescriber(bench.dispatcher, bench.clock) { _ in nil },
                bench.clock
            ) { reloads.count }
        }

        /// Another daemon with the same requests.
        func another() -> TaskCommands {
            TaskCommands(
                bench.dispatcher,
                bench.commits,
                RequestDescriber(bench.dispatcher, bench.clock) { _ in nil },
                bench.clock
            ) { 0 }
        }
    }

    private static func cursor(_ list: PendingList) throws -> PageCursor {
        let text = try #require(list.next)
        return try #require(PageCursor(text))
    }

    @Test func `Pages have each request once, and the total if the question asks for all`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            for number in 0..<25 { try await subject.bench.submit("job.\(number)", in: 60) }
            var found: [String] = []
            var question = PendingQuestion(limit: 10)
            for expected in [10, 10, 5] {
                let page = try await subject.commands.pending(question)
                #expect(page.requests.count == expected && page.total == 25)
                found += page.requests.map(\.task)
                question.cursor = expected == 10 ? try Self.cursor(page) : nil
            }
            #expect(found.sorted() == (0..<25).map { "job.\($0)" }.sorted())
            let none = try await subject.commands.pending(
                PendingQuestion(tasks: TaskFilter("own*"), limit: 10)
            )
            #expect(none == PendingList(requests: [], total: 0))
        }
    }

    @Test func `A page ends behind 16 MiB of parameters`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            let parameters = #"{"a":""# + String(repeating: "x", count: 60 << 10) + #""}"#
            for number in 0..<300 {
                try await subject.bench.submit("job.\(number)", in: 60, parameters: parameters)
            }
            let page = try await subject.commands.pending(PendingQuestion(limit: 1000))
            let bytes = page.requests.count * parameters.utf8.count
            #expect(bytes >= 16 << 20 && bytes < 16 << 20 + parameters.utf8.count)
            let rest = try await subject.commands.pending(
                PendingQuestion(cursor: try Self.cursor(page), limit: 1000)
            )
            #expect(page.requests.count + rest.requests.count == 300 && rest.next == nil)
        }
    }

    /// The code of the refusal of a question; `nil` if it has an answer.
    private nonisolated(nonsending) static func code(
        _ commands: TaskCommands,
        _ question: PendingQuestion
    ) async -> OperatorRefusal.Code? {
        do throws(OperatorRefusal) {
            _ = try await commands.pending(question)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `A cursor of another list, another manifest or another daemon is refused`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            for number in 0..<3 { try await subject.bench.submit("job.\(number)", in: 60) }
            let page = try await subject.commands.pending(PendingQuestion(limit: 1))
            let question = PendingQuestion(cursor: try Self.cursor(page), limit: 1)
            #expect(try await subject.commands.pending(question).requests.count == 1)
            #expect(await Self.code(subject.another(), question) == .staleCursor)
            subject.reloads.count = 1
            #expect(await Self.code(subject.commands, question) == .staleCursor)
            let other = PageCursor.dead(diedAt: 1, run: RunID(high: 1, low: 1))
            #expect(
                await Self.code(subject.commands, PendingQuestion(cursor: other, limit: 1))
                    == .badCursor
            )
        }
    }

    @Test func `A plugin or a tag that the manifest does not have is refused`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            try await subject.bench.submit("own", in: 60)
            for (question, code) in [
                (PendingQuestion(plugin: "plugni", limit: 1), OperatorRefusal.Code.noSuchPlugin),
                (PendingQuestion(tag: "nihgtly", limit: 1), .noSuchTag),
            ] {
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    _ = try await subject.commands.pending(question)
                }
                #expect(refusal?.code == code && refusal?.fix.isEmpty == false)
            }
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await subject.commands.cancelPending(.tag("nihgtly"), expected: nil)
            }
            #expect(refusal?.code == .noSuchTag)
            #expect(subject.bench.dispatcher.scheduler.pending("own") != nil)
        }
    }

    @Test func `A withdrawal takes the requests that it names, and no others`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            for task in ["own", "job.1", "job.2", "job.3"] {
                try await subject.bench.submit(task, in: 60)
            }
            let tagged = try await subject.commands.cancelPending(.tag("nightly"), expected: nil)
            #expect(tagged.map(\.task) == ["own"])
            let one = try await subject.commands.cancelPending(.task("job.2"), expected: nil)
            #expect(one.count == 1)
            #expect(try await subject.commands.cancelPending(.task("job.2"), expected: nil).isEmpty)
            let rest = try await subject.commands.cancelPending(.all, expected: nil)
            #expect(rest.map(\.task).sorted() == ["job.1", "job.3"])
            #expect(subject.bench.dispatcher.scheduler.waitingRequests == 0)
        }
    }

    @Test func `A withdrawal that is not stored says what was withdrawn`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            for task in ["job.1", "job.2"] { try await subject.bench.submit(task, in: 60) }
            subject.bench.store.answerAtOnce(.failure(CommandBench.full))
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await subject.commands.cancelPending(.all, expected: nil)
            }
            #expect(refusal?.code == .notStored)
            #expect(refusal?.message.hasPrefix("withdrawn: 2 requests") == true)
            #expect(subject.bench.dispatcher.scheduler.waitingRequests == 0)
        }
    }
}
