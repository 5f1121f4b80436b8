// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostCalendar
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
import BghostStore
import BghostTestSupport
import Testing

/// The owner of the commands for dead letters, with a store of the test and without a process.
@Suite(.timeLimit(.minutes(5))) struct DeadLetterCommandsTests {
    private struct Subject {
        let bench: CommandBench
        let commands: DeadLetterCommands
        /// The store that is asked; the commands do not change it, so its answers may be old.
        private let store: SQLiteStore
        private let folder: TemporaryDirectory
        private let spawner: Spawner
        private let threads = BlockingThreads()

        init(_ reactor: Reactor, _ manifest: Manifest = SampleManifest.make()) throws {
            bench = CommandBench(reactor, manifest, deadLettersMax: 20_000)
            spawner = try Spawner()
            folder = try TemporaryDirectory()
            store = try SQLiteStore(path: folder.file("store"))
            commands = DeadLetterCommands(
                bench.dispatcher,
                bench.commits,
                HistoryReader(store, threads, spawner: spawner),
                bench.clock,
                zone: { .utc },
                log: bench.log
            )
        }

        func end() {
            spawner.end()
            threads.end()
            store.close()
        }

        /// Lets requests die, the last one at the end, and the store find them.
        func kill(_ requests: [Request]) {
            var changes: [StoreChange] = []
            for request in requests {
                var record = RunRecord(
                    id: RunID(high: 5, low: request.id.low),
                    request: request.id,
                    task: request.task,
                    plugin: "plugin",
                    limits: RunLimits(kind: .refresh),
                    submittedAt: 0
                )
                changes += [.accepted(request, replacing: nil), .runStarted(record)]
                (record.state, record.outcome, record.endedAt) = (.ended, .failed, 1)
                let end = StoreChange.runEnded(record, then: .dead(request, reason: "failed"))
                changes.append(end)
                bench.commits.commit([end])
            }
            // Answers have what is not on the disk yet.
            store.commit(changes) { _ in }
        }
    }

    private static func request(
        _ number: UInt64,
        _ task: String = "backup",
        parameters: String = "{}"
    ) -> Request {
        Request(
            id: RunID(high: 1, low: number),
            task: task,
            parameters: parameters,
            submittedAt: 0,
            priority: 500
        )
    }

    private static func text(_ number: UInt64) -> String { RunID(high: 1, low: number).description }

    @Test func `A request is chosen by the beginning of its id, in any case of its letters`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            defer { subject.end() }
            subject.kill((1...3).map { Self.request($0) })
            let common = String(Self.text(1).prefix(20))
            let several = await #expect(throws: OperatorRefusal.self) {
                _ = try await subject.commands.discard(.request(prefix: common), expected: nil)
            }
            #expect(several?.code == .ambiguousRequest)
            let newestFirst: [UInt64] = [3, 2, 1]
            #expect(several?.candidates == newestFirst.map { "\(Self.text($0)) backup" })
            let none = await #expect(throws: OperatorRefusal.self) {
                _ = try await subject.commands.redrive(.request(prefix: "ZZ"), expected: nil)
            }
            #expect(none?.code == .noSuchRequest && none?.message.contains("ZZ") == true)
            // What was refused stays free for other commands.
            let one = try await subject.commands.discard(
                .request(prefix: Self.text(2).lowercased()),
                expected: nil
            )
            #expect(one.done.map(\.id) == [RunID(high: 1, low: 2)] && !one.hasMore)
            #expect(subject.bench.commits.deadLetters.count == 2)
        }
    }

    @Test func `A redrive starts what the manifest permits, and leaves the rest dead`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            defer { subject.end() }
            subject.kill([Self.request(1), Self.request(2, "gone")])
            let change = try await subject.commands.redrive(.all, expected: nil)
            #expect(change.done.map(\.task) == ["backup"])
            #expect(change.refused.map(\.task) == ["gone"])
            #expect(subject.bench.started.map(\.record.request) == [RunID(high: 1, low: 1)])
            #expect(subject.bench.commits.deadLetters.contains(RunID(high: 1, low: 2)))
            #expect(!subject.bench.commits.deadLetters.contains(RunID(high: 1, low: 1)))
            // The store's answer is older than that.
            #expect(try await subject.commands.redrive(.task("backup"), expected: nil).done.isEmpty)
        }
    }

    @Test func `A change that cannot be stored changes nothing`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            defer { subject.end() }
            subject.kill([Self.request(1)])
            subject.bench.store.answerAtOnce(.failure(CommandBench.full))
            for isRedrive in [true, false] {
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    _ =
                        try await isRedrive
                        ? subject.commands.redrive(.all, expected: nil)
                        : subject.commands.discard(.all, expected: nil)
                }
                #expect(refusal?.code == .storeFailed)
                #expect(refusal?.message.contains("the disk is full") == true)
            }
            #expect(subject.bench.started.isEmpty && subject.bench.commits.deadLetters.count == 1)
            subject.bench.store.answerAtOnce(.success(()))
            #expect(try await subject.commands.discard(.all, expected: nil).done.count == 1)
        }
    }

    @Test func `Two commands at the same time do not get the same dead letter`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            defer { subject.end() }
            subject.kill([Self.request(1)])
            subject.bench.store.answerAtOnce(nil)
            let redrive = Task {
                _ = actor
                return try await subject.commands.redrive(.all, expected: nil)
            }
            await ReactorActor.wait { subject.bench.store.commits.count == 1 }
            #expect(try await subject.commands.discard(.all, expected: nil).done.isEmpty)
            #expect(subject.bench.store.commits.count == 1)
            await subject.bench.store.answerAll(.success(()))
            #expect(try await redrive.value.done.count == 1)
            #expect(subject.bench.started.count == 1)
        }
    }

    @Test func `One command changes ten thousand dead letters, and says that there are more`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            defer { subject.end() }
            subject.kill((1...10_001).map { Self.request($0) })
            let first = try await subject.commands.discard(.all, expected: nil)
            #expect(first.done.count == 10_000 && first.hasMore)
            // The oldest one is left.
            #expect(subject.bench.commits.deadLetters.contains(RunID(high: 1, low: 1)))
            #expect(subject.bench.commits.deadLetters.count == 1)
            // Which is behind those that a search by its id looks at.
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await subject.commands.discard(.request(prefix: "ZZ"), expected: nil)
            }
            #expect(refusal?.message.contains("among the 10000 newest") == true)
        }
    }

    @Test func `A page and a change end behind sixteen mebibytes of parameters`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            defer { subject.end() }
            let long = #"{"a":""# + String(repeating: "x", count: (64 << 10) - 8) + #""}"#
            subject.kill((1...600).map { Self.request($0, parameters: long) })
            var question = DeadLetterQuestion(limit: 1000)
            var pages: [[UInt64]] = []
            repeat {
                let page = try await subject.commands.deadLetters(question)
                pages.append(page.letters.map(\.request.id.low))
                question.cursor = page.next.map { .dead(diedAt: $0.diedAt, run: $0.run) }
            } while question.cursor != nil
            #expect(pages.map(\.count) == [256, 256, 88])
            #expect(pages.joined().elementsEqual((1...600).reversed()))
            // One of many is found by its id, also if it is none of the first page.
            let found = try await subject.commands.discard(
                .request(prefix: Self.text(3)),
                expected: nil
            )
            #expect(found.done.count == 1 && !found.hasMore)
            let all = try await subject.commands.discard(.all, expected: 599)
            #expect(all.done.count == 256 && all.hasMore)
        }
    }

    @Test func `A question that no list answers is refused before the store is asked`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            defer { subject.end() }
            let other = PageCursor.starts(due: 1, number: 1)
            let questions: [(DeadLetterQuestion, OperatorRefusal.Code)] = [
                (DeadLetterQuestion(plugin: "plugni", limit: 1), .noSuchPlugin),
                (DeadLetterQuestion(since: "yestreday", limit: 1), .badTime),
                (DeadLetterQuestion(until: "", limit: 1), .badTime),
                (DeadLetterQuestion(cursor: other, limit: 1), .badCursor),
            ]
            for (question, code) in questions {
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    _ = try await subject.commands.deadLetters(question)
                }
                #expect(refusal?.code == code)
            }
        }
    }
}
