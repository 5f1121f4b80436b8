// SPDX-License-Identifier: Apache-2.0

import BghostAudit
import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Testing

/// What a wrong clock deletes of the history: nothing, or little.
@Suite(.ownThreads) struct WrongClockTests {
    private static let hour: Int64 = 3_600_000_000_000
    private static let day = 24 * hour

    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    private func sqlite(_ sql: String) throws -> [Int64] {
        let answer = try Command.run(["sqlite3", path, sql])
        try #require(answer.exitCode == 0, "\(answer)")
        return answer.output.split(separator: "\n").compactMap { Int64($0) }
    }

    /// Makes a store with a run and a row of the audit for each number of hours, which have passed since.
    private func make(hoursAgo: [Int64]) async throws {
        let store = StoreConformance(store: try SQLiteStore(path: path))
        let now = ChangeWriter.now()
        try await store.commit(
            hoursAgo.enumerated().flatMap { number, hours in
                Sample.wholeLife(number)
                    + [
                        .audited(
                            AuditEntry(
                                at: now - hours * Self.hour,
                                AuditActor(.socket),
                                verb: "pause",
                                status: .stored
                            )
                        )
                    ]
            }
        )
        store.store.close()
        let dates = hoursAgo.enumerated().map { number, hours in
            "UPDATE run SET at = \(now - hours * Self.hour) WHERE seq = \(number + 1);"
        }
        #expect(try sqlite("BEGIN;" + dates.joined() + "COMMIT;").isEmpty)
        #expect(try sqlite("SELECT seq FROM run") == Array(1...Int64(hoursAgo.count)))
    }

    /// Deletes what is due when a daemon starts with this store.
    private func trim(
        _ host: HistorySettings = HistorySettings(),
        tasks: [String: TaskHistory] = [:]
    ) throws {
        let audit = AuditSettings(age: .seconds(30 * 86_400))
        let retention = SQLiteStore.Retention(
            policy: HistoryPolicy(host: host, audit: audit, tasks: tasks)
        )
        let connection = try Connection(path: path, isReadOnly: false, pragmas: "")
        try trim(connection, retention)
        try connection.close()
    }

    /// The statements are released before the connection is closed.
    private func trim(_ connection: Connection, _ retention: SQLiteStore.Retention) throws {
        let changes = try ChangeWriter(
            connection,
            DamagedRows(path: path) { Issue.record("\($0)") },
            retention: retention
        )
        var pieces = 0
        repeat {
            try changes.trim()
            pieces += 1
        } while changes.isTrimDue && pieces < 100
        // A piece that finds nothing is the last one.
        #expect(pieces < 100)
    }

    private func left() throws -> [[Int64]] {
        try ["run", "audit"].map { try sqlite("SELECT seq FROM \($0) ORDER BY seq") }
    }

    /// Forty days ahead, all of it would be too old.
    @Test func `A start with a clock that is far ahead deletes nothing by its age`() async throws {
        try await make(hoursAgo: [1000, 990, 980, 970])
        try trim(tasks: ["a": TaskHistory(age: .seconds(86_400))])
        #expect(try left() == [[1, 2, 3, 4], [1, 2, 3, 4]])
        // The other limits hold.
        try trim(HistorySettings(runs: 2))
        #expect(try left() == [[3, 4], [1, 2, 3, 4]])
    }

    @Test func `A clock that goes on from before deletes what is too old`() async throws {
        try await make(hoursAgo: [1000, 990, 2, 2])
        try trim()
        #expect(try left() == [[3, 4], [3, 4]])
    }

    @Test func `Rows dated after now go with the rows behind them`() async throws {
        // More than one piece of a deletion looks at.
        let ahead = [Int64](repeating: -9000, count: 1100)
        try await make(hoursAgo: ahead + [1000, 2, 2])
        try trim()
        #expect(try left() == [[1102, 1103], [1102, 1103]])
    }

    @Test func `Rows dated after now do not keep the old rows of a task`() async throws {
        try await make(hoursAgo: [-9000, -9000, 100, 2, 2])
        try trim(tasks: ["a": TaskHistory(age: .seconds(86_400))])
        #expect(try left() == [[4, 5], [1, 2, 3, 4, 5]])
    }

    @Test func `Rows dated after now stay with rows that are not old`() async throws {
        try await make(hoursAgo: [-9000, 2, 2])
        try trim()
        #expect(try left() == [[1, 2, 3], [1, 2, 3]])
    }

    @Test func `Days after tomorrow go before days that have passed`() async throws {
        let today = RunDay.day(of: ChangeWriter.now())
        let days = [today - 2, today - 1, today + 400, today + 401]
        let store = StoreConformance(store: try SQLiteStore(path: path))
        for (number, day) in days.enumerated() {
            var record = Sample.ended(number, request: number + 10_000)
            record.endedAt = day * Self.day
            let begin = Array(Sample.wholeLife(number).dropLast())
            try await store.commit(begin + [.runEnded(record, then: .consumed)])
        }
        store.store.close()
        try trim(HistorySettings(rollups: 2))
        #expect(
            try sqlite("SELECT DISTINCT day FROM run_day ORDER BY day") == [today - 2, today - 1]
        )
        try trim(HistorySettings(rollups: 1))
        #expect(try sqlite("SELECT DISTINCT day FROM run_day") == [today - 1])
    }

    @Test func `A clock that is set ahead is believed once it has gone on for an hour`() {
        let hour = Self.hour
        var clock = AgeClock(wall: 0, uptime: 0, isBelieved: true)
        // The time that the machine slept is part of its uptime.
        #expect(clock.look(wall: 99 * hour, uptime: 99 * hour).mayDelete)
        #expect(clock.look(wall: 120 * hour, uptime: 100 * hour).mayDelete)
        let ahead = clock.look(wall: 9000 * hour, uptime: 101 * hour)
        #expect(!ahead.mayDelete && ahead.oldest(.zero) == .min)
        #expect(!clock.look(wall: 9001 * hour - 1, uptime: 102 * hour - 1).mayDelete)
        let again = clock.look(wall: 9001 * hour, uptime: 102 * hour)
        #expect(again.mayDelete && again.isRelease && again.oldest(.zero) == 9001 * hour)
        #expect(!clock.look(wall: 9002 * hour, uptime: 103 * hour).isRelease)
        #expect(clock.look(wall: 104 * hour, uptime: 104 * hour).mayDelete)
        var unknown = AgeClock(wall: 0, uptime: 0, isBelieved: false)
        #expect(!unknown.look(wall: hour - 1, uptime: hour - 1).mayDelete)
        #expect(unknown.look(wall: hour, uptime: hour).isRelease)
    }
}
