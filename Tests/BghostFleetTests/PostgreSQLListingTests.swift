// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostFleet
import BghostFleetRules
@testable import BghostFleetStore
import BghostFleetSupport
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

/// Questions about all requests of a fleet in a real PostgreSQL, and the version of the schema that has them.
@Suite(.serialized, .ownThreads, .postgreSQL) struct PostgreSQLListingTests {
    /// Rows of requests as a host would have written them, of which each tenth is dead.
    private func fill(_ database: FleetDatabase, _ count: Int, bytes: Int = 0) throws {
        let request = try BatchText.text(FleetSample.request(1, task: "TASK"))
        let letter = #"{"diedAt":7,"reason":"why","run":{"high":0,"low":1}}"#
        // The text of an id has five bits in each character.
        let digits = [15, 10, 5, 0].map { shift in
            "substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (n >> \(shift) & 31) + 1, 1)"
        }
        try database.query(
            """
            INSERT INTO bghost_partitions.request
            SELECT 0, n % 8, id, 't' || n, CASE WHEN n % 10 = 0 THEN 2 ELSE 0 END, false, NULL,
                replace(replace(replace('\(request)', '"low":1', '"low":' || n), 'TASK', 't' || n),
                    '"{}"', '"' || repeat(' ', \(bytes)) || '{}"'),
                NULL, CASE WHEN n % 10 = 0 THEN '\(letter)' END
            FROM (SELECT n, lpad(\(digits.joined(separator: " || ")), 26, '0') AS id
                FROM generate_series(1, \(count)) n) x;
            ANALYZE bghost_partitions.request
            """
        )
    }

    /// All rows that a question leads to, and the number of pages.
    private func all(
        _ question: FleetQuestion,
        _ store: PostgreSQLPartitions
    ) throws -> (rows: [FleetRow], pages: Int) {
        var (question, rows, pages) = (question, [FleetRow](), 0)
        repeat {
            let page = try store.page(question)
            rows += page.rows
            question.cursor = page.next
            pages += 1
        } while question.cursor != nil && pages < 100
        return (rows, pages)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A page reads a bounded number of rows, and the next one goes on`() throws {
        let database = try FleetDatabase()
        let store = database.partitions()
        _ = try store.join("a")
        let count = 25_000
        try fill(database, count)
        let waiting = try all(FleetQuestion(isDead: false, limit: 1000), store)
        #expect(waiting.rows.count == count / 10 * 9)
        #expect(Set(waiting.rows.map(\.request.id)).count == waiting.rows.count)
        #expect(waiting.rows.allSatisfy { $0.owner == "a" && $0.state == .pending })
        let dead = try all(FleetQuestion(isDead: true, limit: 1000), store)
        #expect(dead.rows.count == count / 10 && dead.rows.allSatisfy { $0.state == .dead })
        #expect(dead.pages == 3)
        // Few are wanted, so each page reads as much as it may: 25,000 rows in three pages.
        let some = FleetQuestion(isDead: false, tasks: TaskFilter("t2499*"), limit: 1000)
        let few = try all(some, store)
        #expect(few.rows.count == 10 && few.pages == 3, "\(few.rows.count) in \(few.pages)")
        let plan = try database.query(
            """
            EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) SELECT id FROM bghost_partitions.request
            WHERE (pool, number, id) > (0, 3, '') AND letter IS NOT NULL
            ORDER BY pool, number, id LIMIT 10
            """
        )
        #expect(plan.contains { $0.contains("request_dead") }, "\(plan)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A page has a bounded number of bytes, and at least one request`() throws {
        let database = try FleetDatabase()
        let store = database.partitions()
        _ = try store.join("a")
        let bytes = FleetQuestion.bytesMax / 3
        try fill(database, 9, bytes: bytes)
        let found = try all(FleetQuestion(isDead: false, limit: 1000), store)
        #expect(found.rows.count == 9 && found.pages >= 5, "\(found.pages)")
        #expect(Set(found.rows.map(\.request.id)).count == 9)
        // Nothing of that size is submitted, but a row that is there must not stop the list.
        try database.query(
            """
            UPDATE bghost_partitions.request SET
                request = replace(request, '{}', repeat(' ', \(FleetQuestion.bytesMax)) || '{}')
            """
        )
        #expect(try store.page(FleetQuestion(isDead: false, limit: 1000)).rows.count == 1)
    }

    @Test(.timeLimit(.minutes(5)))
    func `Submissions for others are not read by the look of an owner`() throws {
        let database = try FleetDatabase()
        var store = database.partitions()
        let session = try store.join("a")
        // All partitions but one belong to a host that is gone.
        let own = PartitionID(of: "own", partitions: 8)
        try database.query(
            """
            INSERT INTO bghost_partitions.inbox (pool, number, id, body)
            SELECT 0, (\(own.number) + 1 + n % 7) % 8, 'x' || n, 'unreadable' FROM generate_series(1, 30000) n;
            UPDATE bghost_partitions.partition SET owner = NULL WHERE number <> \(own.number);
            ANALYZE bghost_partitions.inbox
            """
        )
        let letter = FleetLetter(FleetSample.request(1, task: "own"), .append)
        try store.post([letter])
        #expect(try store.letters(limit: 256, session) == [letter])
        var connector = PostgreSQLConnector(
            connection: database.connection,
            schema: PartitionSchema.versions
        )
        let looking = try connector.connect(timeout: 120_000_000_000)
        let plan = try looking.rows(
            "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) "
                + PartitionSchema.waitingLetters.replacing("$1::int", with: "\(session.host)")
                .replacing("$2::bigint", with: "-1").replacing("$3::int", with: "256"),
            []
        ).compactMap(\.first).compactMap(\.self)
        let scan = plan.first { $0.contains("inbox_partition") } ?? ""
        #expect(scan.contains("rows=1 loops=1"), "\(plan.joined(separator: "\n"))")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A schema of version 2 is migrated with what it has`() throws {
        let database = try FleetDatabase()
        var connector = PostgreSQLConnector(
            connection: database.connection,
            schema: PartitionSchema.versions([PartitionSchema.first, PartitionSchema.letters])
        )
        // Only the tables that it makes matter.
        _ = try connector.connect(timeout: 120_000_000_000)
        let letter = FleetLetter(FleetSample.request(41, task: "a"), .append)
        try database.query(
            """
            INSERT INTO bghost_partitions.fleet VALUES (1, 2, 8) ON CONFLICT (one) DO UPDATE SET partitions = 8;
            INSERT INTO bghost_partitions.partition SELECT 0, n, NULL, 0 FROM generate_series(0, 7) n;
            INSERT INTO bghost_partitions.inbox (pool, number, id, body) VALUES
                (0, \(letter.partition(of: 8).number), '\(letter.request.id)',
                    '\(try BatchText.text(letter))')
            """
        )
        try fill(database, 20)
        var store = database.partitions()
        let session = try store.join("a")
        #expect(try database.query("SELECT version FROM bghost_partitions.fleet") == ["4"])
        #expect(try store.letters(limit: 10, session) == [letter])
        let waiting = try store.page(FleetQuestion(isDead: false, limit: 100)).rows
        #expect(waiting.count == 19 && waiting.last?.request == letter.request)
        #expect(try store.page(FleetQuestion(isDead: true, limit: 100)).rows.count == 2)
        let cancelled = try store.cancel(letter.request.id)
        #expect(cancelled?.isNew == true)
        #expect(try store.cancels(limit: 10, session).map(\.request) == [letter.request.id])
    }
}
