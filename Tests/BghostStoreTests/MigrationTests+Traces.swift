// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
import Testing

extension MigrationTests {
    /// Takes away what the fourteenth version brought too.
    static let thirteenth =
        fourteenth + """

            ALTER TABLE request DROP COLUMN trace;
            ALTER TABLE lease DROP COLUMN trace;
            ALTER TABLE run DROP COLUMN trace;
            PRAGMA user_version = 13;
            """

    private static let context = TraceContext(
        traceHigh: 1,
        traceLow: .max,
        span: 3,
        flags: 1,
        state: "a=1, b=2"
    )

    private static func traced(_ number: Int) -> Request {
        var request = Sample.request(number)
        request.trace = context
        return request
    }

    private static func run(_ number: Int, request: Int) -> RunRecord {
        var record = Sample.begun(number, request: request)
        record.trace = RunTrace(context: context.at(span: 9), parent: 3, since: -1)
        return record
    }

    @Test(.timeLimit(.minutes(5)))
    func `A store of the thirteenth version keeps traces from then on`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(.accepted(Sample.fullRequestOfTheThirteenth, replacing: nil))
        try await store.commit(Sample.wholeLife(7))
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, Self.thirteenth])
        try #require(downgrade.exitCode == 0, "\(downgrade)")
        let migrated = StoreConformance(store: try SQLiteStore(path: path))
        #expect(try migrated.store.recover().pending == [Sample.fullRequestOfTheThirteenth])
        // One that waits, one that is under way, and one that has ended.
        try await migrated.commit(.accepted(Self.traced(1), replacing: nil))
        try await migrated.commit(.accepted(Self.traced(2), replacing: nil))
        try await migrated.commit(.runStarted(Self.run(20, request: 2)))
        try await migrated.commit(.accepted(Self.traced(3), replacing: nil))
        try await migrated.commit(.runStarted(Self.run(30, request: 3)))
        var ended = Self.run(30, request: 3)
        (ended.state, ended.outcome, ended.endedAt) = (.ended, .succeeded, 4)
        try await migrated.commit(.runEnded(ended, then: .consumed))
        migrated.store.close()
        let again = try SQLiteStore(path: path)
        let state = try again.recover()
        #expect(Set(state.pending.map(\.trace)) == [nil, Self.context])
        #expect(state.interrupted.map(\.request.trace) == [Self.context])
        #expect(state.interrupted.map(\.run.trace) == [Self.run(20, request: 2).trace])
        let runs = again.runs(task: nil, limit: 10)
        #expect(runs.first { $0.id == ended.id } == ended)
        again.close()
    }

    @Test(arguments: ["request", "lease"])
    func `A flipped trace is seen`(table: String) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(.accepted(Self.traced(2), replacing: nil))
        try await store.commit(.runStarted(Self.run(20, request: 2)))
        store.store.close()
        let change = "UPDATE \(table) SET trace = replace(trace, 'b=2', 'b=3')"
        let flip = try Command.run(["sqlite3", path, change])
        try #require(flip.exitCode == 0, "\(flip)")
        let damaged = try SQLiteStore(path: path)
        defer { damaged.close() }
        let error = #expect(throws: StoreError.self) { try damaged.recover() }
        #expect(error?.kind == .corrupt)
    }
}
