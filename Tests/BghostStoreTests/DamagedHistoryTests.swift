// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Synchronization
import Testing

/// Answers leave damaged rows out and report them, and tell if they cannot be read at all.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct DamagedHistoryTests {
    private let folder: TemporaryDirectory
    private let path: String

    /// What the store has reported.
    private final class Reports: Sendable {
        private let messages = Mutex<[String]>([])

        func add(_ error: StoreError) { messages.withLock { $0.append(error.message) } }

        func count(of text: String) -> Int {
            messages.withLock { $0.count { $0.contains(text) } }
        }
    }

    private let reports = Reports()

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    private func open() throws -> SQLiteStore { try SQLiteStore(path: path) { reports.add($0) } }

    /// Five runs of one task, and the starts of two others that did not happen.
    private func fill(damage: String) async throws {
        let store = StoreConformance(store: try open())
        for number in 1...5 { try await store.commit(Sample.wholeLife(number)) }
        for number in 1...2 as ClosedRange<Int64> {
            try await store.commit(
                .startSkipped(
                    SkippedStart(task: "b", kind: .misfire, due: number, until: number)
                )
            )
        }
        store.store.close()
        let change = try Command.run(["sqlite3", path, damage])
        try #require(change.exitCode == 0, "\(change)")
    }

    private func ids(_ runs: [RunRecord]) -> [UInt64] { runs.map(\.id.low) }

    @Test func `A damaged run is left out, and the pages go on behind it`() async throws {
        try await fill(damage: "UPDATE run SET message = 'x' WHERE seq IN (2, 4)")
        let store = try open()
        defer { store.close() }
        #expect(ids(store.runs(task: nil, limit: 2)) == [5, 3])
        #expect(ids(store.runs(task: "a", limit: 9)) == [5, 3, 1])
        #expect(ids(store.runs(task: "a", endedFrom: 0, limit: 9)) == [1, 3, 5])
        let id = Sample.id(4).description
        #expect(store.runs(idPrefix: id, limit: 9).isEmpty)
        var found: [UInt64] = []
        var query = RunQuery(limit: 2)
        repeat {
            let page = StoreReading.result { store.runs(query) }
            let entries = try page.get().entries
            found += ids(entries.map(\.record))
            query.before = try page.get().next
        } while query.before != nil
        #expect(found == [5, 3, 1])
        #expect(reports.count(of: "row 2 of the runs is damaged: answers leave it out") == 1)
        #expect(reports.count(of: "row 4 of the runs is damaged") == 1)
    }

    @Test func `The last run before a damaged one is the last run`() async throws {
        try await fill(damage: "UPDATE run SET message = 'x' WHERE seq = 5")
        let store = try open()
        defer { store.close() }
        #expect(store.lastRun(task: "a")?.id == Sample.id(4))
        #expect(store.lastRuns(tasks: ["a", "b"]).mapValues(\.id) == ["a": Sample.id(4)])
    }

    @Test func `A damaged start that did not happen is left out`() async throws {
        try await fill(damage: "UPDATE start SET cause = 'x' WHERE seq = 2")
        let store = try open()
        defer { store.close() }
        #expect(store.skippedStarts(SkippedStartQuery(limit: 9)).starts.map(\.due) == [1])
        #expect(reports.count(of: "row 2 of the skipped starts is damaged") == 1)
    }

    @Test func `A dead request that gets damaged is left out`() async throws {
        let store = StoreConformance(store: try open())
        defer { store.store.close() }
        for number in 1...2 {
            let dead = Sample.request(number)
            try await store.commit(
                .accepted(dead, replacing: nil),
                .runStarted(Sample.begun(50 + number, request: number)),
                .runEnded(
                    Sample.ended(50 + number, request: number),
                    then: .dead(dead, reason: "tired")
                )
            )
        }
        _ = try store.store.recover()
        let change = try Command.run([
            "sqlite3", path, "UPDATE request SET task = 'x' WHERE died_at = 52",
        ])
        try #require(change.exitCode == 0, "\(change)")
        #expect(store.store.deadLetters(task: nil, limit: 1).map(\.request.id) == [Sample.id(1)])
        let page = store.store.deadLetters(DeadLetterQuery(limit: 9))
        #expect(page.letters.map(\.request.id) == [Sample.id(1)])
        #expect(reports.count(of: "a dead request") == 2)
    }

    /// A page that SQLite finds damaged may have any of the rows.
    @Test func `A question that cannot be read says so, and is reported once`() async throws {
        let index = "SELECT rootpage FROM sqlite_schema WHERE name = 'run_task'"
        try await fill(damage: "PRAGMA journal_mode = DELETE")
        let page = try #require(Int64(try Command.run(["sqlite3", path, index]).output.dropLast()))
        var bytes = try File.read(path)
        let start = (Int(page) - 1) * 4096
        bytes.replaceSubrange(start..<start + 4096, with: repeatElement(0xFF, count: 4096))
        try folder.write(bytes, to: "state.db")
        let store = try open()
        defer { store.close() }
        let query = RunQuery(RunFilter(task: "a"), limit: 9)
        for _ in 1...3 {
            guard case .failure(let error) = StoreReading.result({ store.runs(query) }) else {
                Issue.record("a damaged index was read")
                continue
            }
            #expect(error.kind == .corrupt)
            #expect(store.runs(query).entries.isEmpty)
        }
        #expect(reports.count(of: "cannot answer a question") == 1)
        // What does not need the index is answered.
        let rest = StoreReading.result { store.runs(task: nil, limit: 9) }
        #expect(try ids(rest.get()) == [5, 4, 3, 2, 1])
    }
}
