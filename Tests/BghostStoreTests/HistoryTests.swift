// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Testing

/// How much history a store keeps.
@Suite(.ownThreads) struct HistoryTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    private func open(_ policy: HistoryPolicy, chunk: Int = 16) throws -> StoreConformance {
        let store = try SQLiteStore(path: path, retention: .init(policy: policy, chunk: chunk)) {
            Issue.record("\($0)")
        }
        return StoreConformance(store: store)
    }

    /// Waits until the store's thread has deleted enough.
    private func until(
        _ store: StoreConformance,
        _ isTrue: () throws -> Bool
    ) async throws {
        while try !isTrue() {
            await withCheckedContinuation { turn in store.store.answer { turn.resume() } }
        }
    }

    private func count(_ sql: String) throws -> Int {
        let answer = try Command.run(["sqlite3", path, sql])
        return try #require(Int(answer.output.dropLast()), "\(answer)")
    }

    /// The extents that the daemon counts are those of the tables.
    private func expectCountsOfTheTables() throws {
        let store = try SQLiteStore(path: path)
        defer { store.close() }
        let sizes = try store.open().ask { reader throws(SQLiteFailure) in
            try TableSizes(reading: reader.connection)
        }
        #expect(try sizes.runs.rows == Int64(count("SELECT count(*) FROM run")))
        #expect(
            try sizes.runs.bytes
                == Int64(count("SELECT coalesce(sum(\(TrimStatements.runBytes)), 0) FROM run"))
        )
        #expect(try sizes.outputs.rows == Int64(count("SELECT count(*) FROM output")))
        #expect(
            try sizes.outputs.bytes
                == Int64(
                    count("SELECT coalesce(sum(\(TrimStatements.outputSize)), 0) FROM output")
                )
        )
    }

    @Test(.timeLimit(.minutes(5))) func `Forgets the oldest runs`() async throws {
        let store = try open(HistoryPolicy(host: HistorySettings(runs: 100)))
        for number in 0..<1000 { store.store.commit(Sample.wholeLife(number)) { _ in } }
        _ = try store.store.recover()
        for number in 1000..<1100 { try await store.commit(Sample.wholeLife(number)) }
        try await until(store) { store.store.runs(task: nil, limit: 10_000).count <= 116 }
        let runs = store.store.runs(task: nil, limit: 10_000)
        #expect(runs.count >= 100)
        #expect(runs.map(\.id.low) == (0..<runs.count).map { UInt64(1099 - $0) })
        store.store.close()
        #expect(try count("SELECT count(*) FROM journal") <= 148)
        try expectCountsOfTheTables()
        let again = try open(HistoryPolicy(host: HistorySettings(runs: 100)))
        // The end of the store removes what was still due.
        let kept = again.store.runs(task: nil, limit: 10_000)
        #expect(kept.count >= 100)
        #expect(kept == Array(runs.prefix(kept.count)))
        again.store.close()
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func `Forgets what is too old or too much`(byAge: Bool) async throws {
        let settings = HistorySettings(
            runs: 1_000_000,
            age: byAge ? .zero : .seconds(86_400),
            bytes: byAge ? 1 << 30 : 5000
        )
        let store = try open(HistoryPolicy(host: settings), chunk: 8)
        for number in 0..<500 { try await store.commit(Sample.wholeLife(number)) }
        try await until(store) { store.store.runs(task: nil, limit: 1000).count < 60 }
        #expect(store.store.runs(task: nil, limit: 1).map(\.id.low) == [499])
        store.store.close()
        try expectCountsOfTheTables()
        // What the journal's last row says of the tables is still there.
        #expect(try open(HistoryPolicy()).store.recover().pending.isEmpty)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A task keeps less, and takes no place from others`() async throws {
        let policy = HistoryPolicy(
            host: HistorySettings(runs: 300),
            tasks: [
                "org.example.chatty.*": TaskHistory(runs: 10),
                "org.example.chatty.loud": TaskHistory(), "org.example.rare": TaskHistory(),
            ]
        )
        let store = try open(policy, chunk: 4)
        for number in 0..<50 {
            try await store.commit(Sample.wholeLife(number, task: "org.example.rare"))
        }
        for number in 50..<1050 {
            let task = "org.example.chatty.\(number % 2)"
            try await store.commit(Sample.wholeLife(number, task: task))
        }
        for number in 1050..<1100 {
            try await store.commit(Sample.wholeLife(number, task: "org.example.chatty.loud"))
        }
        func count(_ task: String) -> Int { store.store.runs(task: task, limit: 2000).count }
        try await until(store) {
            count("org.example.chatty.0") <= 14 && count("org.example.chatty.1") <= 14
        }
        #expect(count("org.example.chatty.0") >= 10)
        #expect(count("org.example.chatty.loud") == 50)
        #expect(count("org.example.rare") == 50)
        store.store.close()
        try expectCountsOfTheTables()
    }

    @Test(.timeLimit(.minutes(5)))
    func `Runs of a task grow old also if it runs no more`() async throws {
        let policy = HistoryPolicy(tasks: ["brief": TaskHistory(age: .zero), "a": TaskHistory()])
        // So that nothing is deleted before the policy changes.
        let store = try open(HistoryPolicy(), chunk: 4)
        for number in 0..<40 { try await store.commit(Sample.wholeLife(number, task: "brief")) }
        try await store.commit(Sample.wholeLife(50, task: "a"))
        store.store.keep(history: policy)
        try await until(store) { store.store.runs(task: "brief", limit: 100).isEmpty }
        #expect(store.store.runs(task: "a", limit: 100).count == 1)
        store.store.close()
        try expectCountsOfTheTables()
    }

    @Test(.timeLimit(.minutes(5)))
    func `New limits are taken up at once, in pieces`() async throws {
        let store = try open(HistoryPolicy())
        for number in 0..<3000 { store.store.commit(Sample.wholeLife(number)) { _ in } }
        try await store.commit()
        store.store.keep(history: HistoryPolicy(host: HistorySettings(runs: 20)))
        try await until(store) { store.store.runs(task: nil, limit: 4000).count == 20 }
        store.store.close()
        try expectCountsOfTheTables()
        // Also those that changed while no daemon ran.
        let again = try open(HistoryPolicy(host: HistorySettings(runs: 5)))
        try await again.commit(Sample.wholeLife(3000))
        try await until(again) { again.store.runs(task: nil, limit: 4000).count == 5 }
        again.store.close()
        try expectCountsOfTheTables()
    }

    @Test(.timeLimit(.minutes(5)))
    func `The output of successful runs goes first`() async throws {
        let output = String(repeating: "x", count: 63 << 10) + "\n"
        let budget = HistorySettings(outputBytes: 1 << 20)
        let store = try open(HistoryPolicy(host: budget), chunk: 4)
        for number in 1...60 {
            var record = Sample.detailedRecord(number, request: 1000 + number, output: output)
            // 15 did not succeed, with less than 1 MiB of output together.
            if number % 4 != 0 { record.outcome = .succeeded }
            try await store.commit([
                .accepted(Sample.request(1000 + number, task: "a"), replacing: nil),
                .runStarted(Sample.begun(number, request: 1000 + number)),
                .runEnded(record, then: .consumed),
            ])
        }
        func kept(_ numbers: some Sequence<Int>) -> [Int] {
            numbers.filter { store.store.output(ofRun: Sample.id($0)) == output }
        }
        let failed = (1...60).filter { $0 % 4 == 0 }
        let successes = (1...60).filter { $0 % 4 != 0 }
        // While it trims, one look at all of them sees some before and some after.
        try await until(store) {
            let newest = kept(successes)
            return newest.count <= 5 && newest == successes.suffix(newest.count)
        }
        #expect(kept(failed) == failed)
        #expect(store.store.runs(task: nil, limit: 100).count == 60)
        for number in 61...100 {
            let record = Sample.detailedRecord(number, request: 1000 + number, output: output)
            try await store.commit([
                .accepted(Sample.request(1000 + number, task: "a"), replacing: nil),
                .runStarted(Sample.begun(number, request: 1000 + number)),
                .runEnded(record, then: .consumed),
            ])
        }
        try await until(store) { kept(failed).isEmpty && kept(61...100).count <= 20 }
        #expect(store.store.output(ofRun: Sample.id(100)) == output)
        store.store.close()
        try expectCountsOfTheTables()
    }

    @Test(.timeLimit(.minutes(5)))
    func `Starts that did not happen are kept, bounded, and come back`() async throws {
        let policy = HistoryPolicy(host: HistorySettings(runs: 50))
        var store = try open(policy, chunk: 8)
        func start(_ number: Int) -> SkippedStart {
            SkippedStart(
                task: "t\(number % 2)",
                kind: SkippedStart.Kind.allCases[number % SkippedStart.Kind.allCases.count],
                request: number % 3 == 0 ? nil : Sample.id(number),
                due: Int64(1000 + number),
                until: Int64(2000 + number),
                count: number,
                cause: number % 4 == 0 ? "" : "netz é",
                causeSince: number % 4 == 0 ? nil : Int64(number)
            )
        }
        for number in 0..<300 { try await store.commit(.startSkipped(start(number))) }
        func all() -> [SkippedStart] {
            store.store.skippedStarts(SkippedStartQuery(limit: 1000)).starts
        }
        // The store's thread may still delete rows, so a later look can find fewer.
        func expectTheNewest() {
            let kept = all()
            #expect(kept == (0..<300).reversed().prefix(kept.count).map(start))
            #expect((50...58).contains(kept.count))
        }
        try await until(store) { all().count <= 58 }
        expectTheNewest()
        store.store.close()
        store = try open(policy, chunk: 8)
        expectTheNewest()
        let some = store.store.skippedStarts(
            SkippedStartQuery(tasks: .task("t1"), since: 1280, until: 1290, limit: 3)
        ).starts
        #expect(some == [289, 287, 285].map(start))
        for number in 0..<5 { try await store.commit(Sample.wholeLife(number, task: "t1")) }
        #expect(store.store.oldestEnd() == 0)
        let ended = store.store.runs(task: "t1", endedFrom: 2, limit: 2)
        #expect(ended.map(\.id.low) == [2, 3])
        store.store.close()
    }

    @Test func `A task's own limits hide those of its family`() {
        let policy = HistoryPolicy(
            tasks: [
                "a.*": TaskHistory(runs: 1), "a.b.*": TaskHistory(runs: 2),
                "a.b.c": TaskHistory(), "a.x": TaskHistory(runs: 3),
            ]
        )
        let limits = ["a", "a.q", "a.b.d", "a.b.d.e", "a.b.c", "a.x", "b"].map {
            policy.limits(ofTask: $0)?.runs
        }
        #expect(limits == [nil, 1, 2, 2, nil, 3, nil])
        #expect(!HistoryPolicy(tasks: ["a": TaskHistory()]).hasLimitsOfTasks)
    }
}
