// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Synchronization
import Testing

extension MigrationTests {
    /// Takes away what the sixteenth and the seventeenth version brought.
    static let fifteenth = """
        DROP TABLE closing;
        DROP TABLE run_day;
        PRAGMA user_version = 15;
        """
}

/// The sums of runs by task and day.
@Suite(.ownThreads) struct RunDayTests {
    private static let day: Int64 = 86_400_000_000_000

    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    private func open(_ settings: HistorySettings = HistorySettings()) throws -> StoreConformance {
        let retention = SQLiteStore.Retention(policy: HistoryPolicy(host: settings), chunk: 4)
        return StoreConformance(
            store: try SQLiteStore(path: path, retention: retention) { Issue.record("\($0)") }
        )
    }

    /// The whole life of a request whose run ended on a day.
    private static func life(
        _ number: Int,
        task: String = "a",
        day: Int64 = 0,
        outcome: Outcome = .succeeded,
        time: Duration? = .seconds(2),
        cpu: Duration? = .seconds(1)
    ) -> [StoreChange] {
        var record = Sample.ended(number, request: number + 100_000, task: task)
        record.outcome = outcome
        record.endedAt = day * Self.day + Int64(number)
        record.duration = time
        record.usage.cpu = cpu
        return [
            .accepted(Sample.request(number + 100_000, task: task), replacing: nil),
            .runStarted(Sample.begun(number, request: number + 100_000, task: task)),
            .runEnded(record, then: .consumed),
        ]
    }

    private func rows(_ store: StoreConformance, _ query: RunDayQuery? = nil) -> [RunDay] {
        store.store.runDays(query ?? RunDayQuery(limit: 10_000)).rows
    }

    /// Waits until the store's thread has deleted enough.
    private func until(_ store: StoreConformance, _ isTrue: () -> Bool) async {
        while !isTrue() {
            await withCheckedContinuation { turn in store.store.answer { turn.resume() } }
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func `Sums of each task and day`(inMemory: Bool) async throws {
        let store = inMemory ? StoreConformance(store: MemoryStore()) : try open()
        let outcomes: [Outcome] = [
            .succeeded, .failed, .cancelledClean, .killed(.memory), .killed(.cpu),
            .crashed(.signalled(11)), .lost, .abandoned,
        ]
        // Several in one transaction, and several transactions.
        try await store.commit(
            outcomes.enumerated().flatMap { Self.life($0, day: 20_000, outcome: $1) }
        )
        try await store.commit(Self.life(10, day: 20_000, time: .seconds(7), cpu: nil))
        try await store.commit(Self.life(11, task: "b", day: 20_000, time: nil))
        try await store.commit(Self.life(12, day: 20_001))
        var first = RunDay(day: 20_000, task: "a", number: 1)
        (first.counts.succeeded, first.counts.failed, first.counts.cancelled) = (2, 1, 1)
        (first.counts.killed, first.counts.crashed) = (2, 1)
        (first.counts.lost, first.counts.abandoned) = (1, 1)
        first.runtime = 23_000_000_000
        first.longest = 7_000_000_000
        first.cpu = 8_000_000_000
        #expect(first.counts.all == 9)
        let found = rows(store)
        #expect(found.map(\.day) == [20_001, 20_000, 20_000])
        #expect(found.dropFirst().first == first)
        #expect(found.last?.task == "b" && found.last?.longest == 0)
        store.store.close()
        guard !inMemory else { return }
        let again = try open()
        #expect(rows(again) == found)
        // Sums go on after a restart.
        try await again.commit(Self.life(13, task: "b", day: 20_000))
        #expect(rows(again).last?.counts.succeeded == 2)
        again.store.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `An end that has no effect is not counted`() async throws {
        let store = try open()
        try await store.commit(Self.life(1))
        var late = Sample.ended(1, request: 100_001)
        late.endedAt = 5
        // Once more, and of a run that does not hold the request.
        try await store.commit(.runEnded(late, then: .consumed))
        try await store.commit(.accepted(Sample.request(2), replacing: nil))
        try await store.commit(.runStarted(Sample.begun(3, request: 2)))
        try await store.commit(.runEnded(Sample.ended(4, request: 2), then: .consumed))
        #expect(rows(store).map(\.counts.all) == [1])
        store.store.close()
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func `Pages have each row once, also while rows come`(inMemory: Bool) async throws {
        let store = inMemory ? StoreConformance(store: MemoryStore()) : try open()
        var number = 0
        for day in 0..<5 {
            for task in ["x.b", "x.a", "y"] {
                number += 1
                try await store.commit(Self.life(number, task: task, day: Int64(day)))
            }
        }
        var query = RunDayQuery(limit: 2)
        var found: [RunDay] = []
        while true {
            let page = store.store.runDays(query)
            found += page.rows
            // New tasks of a day come behind the others, and new days before them.
            number += 1
            try await store.commit(Self.life(number, task: "z", day: 4))
            guard let next = page.next else { break }
            query.after = next
        }
        let known = found.filter { $0.task != "z" }
        #expect(known.count == 15 && found.count <= 16)
        #expect(Set(known.map { "\($0.day) \($0.task)" }).count == 15)
        #expect(known.map(\.day) == known.map(\.day).sorted(by: >))
        #expect(known.prefix(3).map(\.task) == ["x.b", "x.a", "y"])
        let one = rows(store, RunDayQuery(tasks: .task("y"), days: 1...3, limit: 9))
        #expect(one.map(\.day) == [3, 2, 1] && one.allSatisfy { $0.task == "y" })
        let some = rows(store, RunDayQuery(tasks: .beginning("x."), days: 2...2, limit: 9))
        #expect(some.map(\.task) == ["x.b", "x.a"])
        #expect(rows(store, RunDayQuery(tasks: .task("none"), limit: 9)).isEmpty)
        store.store.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `Sums stay when runs are deleted, and go by days`() async throws {
        let store = try open(HistorySettings(runs: 5, rollups: 3))
        for number in 0..<100 {
            try await store.commit(Self.life(number, day: Int64(number / 20)))
        }
        await until(store) {
            store.store.runs(task: nil, limit: 1000).count < 20 && rows(store).count == 3
        }
        #expect(rows(store).map(\.day) == [4, 3, 2])
        #expect(rows(store).map(\.counts.all) == [20, 20, 20])
        // A clock that is wrong for a while adds one day, so one goes; the others stay.
        try await store.commit(Self.life(200, day: 40_000))
        await until(store) { rows(store).count == 3 }
        #expect(rows(store).map(\.day) == [40_000, 4, 3])
        store.store.keep(history: HistoryPolicy(host: HistorySettings(rollups: 1)))
        await until(store) { rows(store).count == 1 }
        #expect(rows(store).map(\.day) == [40_000])
        store.store.close()
        // Also if the limit changed while no daemon ran.
        let more = try open()
        try await more.commit(Self.life(201, day: 40_001))
        more.store.close()
        let again = try open(HistorySettings(rollups: 1))
        try await again.commit()
        _ = try again.store.recover()
        await until(again) { rows(again).count == 1 }
        #expect(rows(again).map(\.day) == [40_001])
        again.store.close()
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func `Tasks beyond the thousandth of a day share a row`(inMemory: Bool) async throws {
        let store = inMemory ? StoreConformance(store: MemoryStore()) : try open()
        for start in stride(from: 0, to: RunDay.tasksMax + 50, by: 50) {
            try await store.commit(
                (start..<start + 50).flatMap { Self.life($0, task: "t\($0)") }
            )
        }
        try await store.commit(Self.life(5000, task: "t3") + Self.life(5001, task: "t1049"))
        let found = rows(store)
        #expect(found.count == RunDay.tasksMax + 1)
        #expect(found.first { $0.task == "t3" }?.counts.succeeded == 2)
        let others = found.filter { $0.task.isEmpty }
        #expect(others.map(\.counts.succeeded) == [51])
        #expect(others.map(\.number) == [Int64(RunDay.tasksMax) + 1])
        store.store.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `A store of the fifteenth version counts from then on`() async throws {
        let store = try open()
        try await store.commit(.accepted(Sample.fullRequestOfTheThirteenth, replacing: nil))
        try await store.commit(Sample.wholeLife(7))
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, MigrationTests.fifteenth])
        try #require(downgrade.exitCode == 0, "\(downgrade)")
        let migrated = try open()
        #expect(try migrated.store.recover().pending == [Sample.fullRequestOfTheThirteenth])
        #expect(migrated.store.runs(task: nil, limit: 9) == [Sample.ended(7, request: 10_007)])
        #expect(rows(migrated).isEmpty)
        try await migrated.commit(Sample.wholeLife(8))
        #expect(rows(migrated).map(\.counts.all) == [1])
        migrated.store.close()
    }

    /// Opens the store after a statement has changed its file.
    private func reopen(
        _ store: StoreConformance,
        after statement: String,
        _ reports: Reports
    ) throws -> StoreConformance {
        store.store.close()
        let change = try Command.run(["sqlite3", path, statement])
        try #require(change.exitCode == 0, "\(change)")
        return StoreConformance(store: try SQLiteStore(path: path) { reports.add($0) })
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: ["failed = 1", "number = 5000", "number = 9223372036854775807"]
    )
    func `A damaged row is left out of answers, and begins anew`(change: String) async throws {
        let store = try open()
        try await store.commit(Self.life(1) + Self.life(2, task: "b"))
        let reports = Reports()
        let damaged = try reopen(
            store,
            after: "UPDATE run_day SET \(change) WHERE task = 'a'",
            reports
        )
        // A reader asks again and again, and the log has it once.
        for _ in 0..<3 { #expect(rows(damaged).map(\.task) == ["b"]) }
        #expect(reports.all.count == 1)
        #expect(reports.text.contains("the sums of runs of task `a` on 1970-01-01 are damaged"))
        #expect(reports.text.contains("in \(path), ") && reports.text.contains("bghost restore"))
        try await damaged.commit(Self.life(3, outcome: .failed) + Self.life(4, task: "c"))
        #expect(damaged.store.runs(task: nil, limit: 9).count == 4)
        #expect(damaged.store.health.failure == nil)
        var anew = RunDay(day: 0, task: "a", number: 3)
        (anew.counts.failed, anew.runtime, anew.longest) = (1, 2_000_000_000, 2_000_000_000)
        anew.cpu = 1_000_000_000
        #expect(rows(damaged).map(\.task) == ["b", "a", "c"])
        #expect(rows(damaged).dropFirst().first == anew)
        #expect(reports.all.count == 2 && reports.text.contains("they begin anew with this run"))
        damaged.store.close()
        let again = try open()
        try await again.commit(Self.life(5))
        #expect(rows(again).map(\.counts.all) == [1, 2, 1])
        again.store.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `The row that tasks share begins anew, too`() async throws {
        var store = try open()
        try await store.commit(Self.life(1))
        let reports = Reports()
        // As if the day were full.
        store = try reopen(store, after: "UPDATE run_day SET number = 1000", reports)
        try await store.commit(Self.life(2, task: "b"))
        store = try reopen(
            store,
            after: "UPDATE run_day SET runtime = 1 WHERE task = ''",
            reports
        )
        try await store.commit(Self.life(3, task: "other"))
        let others = rows(store).filter { $0.task.isEmpty }
        #expect(others.map(\.counts.succeeded) == [1])
        #expect(others.map(\.number) == [Int64(RunDay.tasksMax) + 1])
        #expect(reports.text.contains("the sums of runs of all other tasks on 1970-01-01"))
        store.store.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `A row with a damaged number does not end the numbers of its day`() async throws {
        let reports = Reports()
        let store = try open()
        try await store.commit(Self.life(1))
        let damaged = try reopen(
            store,
            after: "UPDATE run_day SET number = \(Int64.max)",
            reports
        )
        try await damaged.commit(Self.life(2, task: "b"))
        #expect(rows(damaged).map(\.task) == ["b"])
        damaged.store.close()
    }

    /// Rows whose number a damaged page has moved to the end of all numbers.
    @Test(.timeLimit(.minutes(5)), arguments: ["start.seq", "output.seq", "origin.number"])
    func `An outcome is kept while a damaged row leaves no number`(column: String) async throws {
        func life(_ number: Int, version: String) -> [StoreChange] {
            let record = Sample.detailedRecord(number, request: number + 1000, version: version)
            return [
                .accepted(Sample.request(number + 1000), replacing: nil),
                .runStarted(Sample.begun(number, request: number + 1000)),
                .startSkipped(SkippedStart(task: "a", kind: .misfire, due: 1, until: 1)),
                .runEnded(record, then: .consumed),
            ]
        }
        var store = try open()
        try await store.commit(life(1, version: "1"))
        let reports = Reports()
        let (table, name) = (column.split(separator: ".")[0], column.split(separator: ".")[1])
        store = try reopen(store, after: "UPDATE \(table) SET \(name) = \(Int64.max)", reports)
        // The first row after the highest number has the lowest one, and the next start begins there again.
        try await store.commit(life(2, version: "2"))
        store = try reopen(store, after: "SELECT 1", reports)
        try await store.commit(life(3, version: "3"))
        try await store.commit(life(4, version: "4"))
        #expect(store.store.health.failure == nil)
        #expect(Set(store.numbers(store.store.runs(task: nil, limit: 9))) == [1, 2, 3, 4])
        let found = reports.all.filter { $0.contains("the number of a row of ") }
        #expect((1...2).contains(found.count) && Set(found).count == 1, "\(reports.all)")
        store.store.close()
    }

    @Test func `Days are those of UTC, also before 1970`() {
        #expect(RunDay.day(of: -1) == -1 && RunDay.day(of: 0) == 0)
        #expect(RunDay.day(of: Self.day - 1) == 0 && RunDay.day(of: Self.day) == 1)
        #expect(RunDay.day(of: .min) == -106_752 && RunDay.day(of: .max) == 106_751)
        #expect(RunDay.text(ofDay: 20_413) == "2025-11-21")
        #expect(RunDay.day(from: "2025-11-21") == 20_413)
        for text in ["", "2025-13-01", "2025-11-21T00", "yesterday!"] {
            #expect(RunDay.day(from: text) == nil)
        }
        for day in [Int64.min, -106_752, 0, 106_751, .max] {
            #expect(RunDay.text(ofDay: day).utf8.count == 10)
        }
    }
}

/// What a store reports.
private final class Reports: Sendable {
    private let errors = Mutex<[String]>([])
    func add(_ error: StoreError) { errors.withLock { $0.append(error.message) } }
    var all: [String] { errors.withLock { $0 } }
    var text: String { all.joined(separator: "\n") }
}
