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

/// What a host reads from a real PostgreSQL: in parts of a bounded size, and past what it cannot read.
@Suite(.serialized, .ownThreads, .postgreSQL) struct PostgreSQLReadingTests {
    private let database: FleetDatabase
    private let store: PostgreSQLPartitions

    init() throws {
        database = try FleetDatabase()
        store = database.partitions()
    }

    private static func request(_ number: Int, task: String, bytes: Int = 2) -> Request {
        var request = FleetSample.request(number, task: task)
        request.parameters = String(repeating: " ", count: bytes - 2) + "{}"
        return request
    }

    /// Accepts requests in the partition of the first one.
    private func accept(_ requests: [Request], number: Int64, _ session: HostSession) throws {
        var fold = BatchFold()
        let partition = PartitionID(of: requests[0].task, partitions: 8)
        let changes = requests.map { StoreChange.accepted($0, replacing: nil) }
        #expect(try fold.add(changes, in: partition).isEmpty)
        #expect(try store.commit(fold.take(), number: number, session) > 0)
    }

    /// As a newer bghost would write it.
    private func insertUnreadable() throws {
        try database.query(
            """
            INSERT INTO bghost_partitions.request VALUES
                (0, 0, '\(FleetSample.id(1))', 'x', 0, true, NULL, '{"future":1}', NULL, NULL),
                (0, 0, '\(FleetSample.id(9))', 'y', 9, false, NULL, '{}', NULL, NULL);
            INSERT INTO bghost_partitions.memory VALUES (0, 0, 'x', '[]');
            INSERT INTO bghost_partitions.inbox (pool, number, id, body)
                SELECT 0, n, 'future' || n, '{"v":2}' FROM generate_series(0, 7) n
            """
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `Rows of a newer bghost are left out, and hold up no other`() throws {
        let session = try store.join("a")
        let partition = PartitionID(number: 0)
        var fold = BatchFold()
        let requests = [2, 3].map { Self.request($0, task: "t\($0)") }
        #expect(
            try fold.add(
                requests.map { .accepted($0, replacing: nil) }
                    + [.remembered(TaskMemory(identifier: "m", lastServedTime: 7))],
                in: partition
            ).isEmpty
        )
        #expect(try store.commit(fold.take(), number: 1, session) > 0)
        try insertUnreadable()
        let letter = FleetLetter(Self.request(4, task: "t4"), .append)
        try store.post([letter])

        let contents = try store.contents(of: partition)
        #expect(contents.pending == requests && contents.memories.map(\.identifier) == ["m"])
        #expect(
            contents.unreadable == [
                .request("\(FleetSample.id(1))", task: "x"),
                .request("\(FleetSample.id(9))", task: "y"), .memory("x"),
            ]
        )
        var page = try store.letters(after: -1, limit: 5, session)
        #expect(page.letters.isEmpty && page.unreadable == 5)
        page = try store.letters(after: try #require(page.next), limit: 5, session)
        #expect(page.letters.map(\.letter) == [letter] && page.unreadable == 3)
        #expect(page.next == nil)

        // The lists have what can be read, also when a page ends at a row that cannot.
        let all = try store.page(FleetQuestion(isDead: false, limit: 100))
        #expect(all.rows.map(\.request) == requests + [letter.request] && all.next == nil)
        var (found, cursor): ([Request], PageCursor?) = ([], nil)
        for _ in 0..<20 {
            let part = try store.page(FleetQuestion(isDead: false, cursor: cursor, limit: 1))
            found += part.rows.map(\.request)
            cursor = part.next
            if cursor == nil { break }
        }
        #expect(found == requests + [letter.request])
        #expect(throws: FleetRefusal.self) { try store.cancel(FleetSample.id(1)) }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A part of a partition and a look have a bounded number of bytes`() throws {
        let session = try store.join("a")
        let bytes = FleetCall.bytesMax / 3
        let requests = (1...7).map { Self.request($0, task: "big", bytes: bytes) }
        let partition = PartitionID(of: "big", partitions: 8)
        for (number, request) in requests.enumerated() {
            var request = request
            request.isAppended = true
            try accept([request], number: Int64(number + 1), session)
        }
        var (ids, place, parts): ([RunID], ContentsPlace?, Int) = ([], nil, 0)
        repeat {
            let page = try store.contents(of: partition, after: place)
            #expect(page.contents.pending.count <= 2)
            ids += page.contents.pending.map(\.id)
            place = page.next
            parts += 1
        } while place != nil && parts < 20
        #expect(ids == requests.map(\.id) && parts >= 5, "\(parts)")

        let letters = (11...15).map {
            FleetLetter(Self.request($0, task: "big", bytes: bytes), .append)
        }
        try store.post(letters)
        var (found, next): ([FleetLetter], Int64?) = ([], -1)
        while let after = next, found.count < 20 {
            let page = try store.letters(after: after, limit: 256, session)
            #expect(!page.letters.isEmpty && page.letters.count <= 2)
            found += page.letters.map(\.letter)
            next = page.next
        }
        #expect(found == letters)
        // One alone comes, whatever its size.
        let huge = Self.request(21, task: "huge", bytes: 2 * FleetCall.bytesMax)
        try accept([huge], number: 8, session)
        #expect(
            try store.contents(of: PartitionID(of: "huge", partitions: 8)).pending.contains(huge)
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `Runs that are too old are deleted with each batch until none is left`() throws {
        let session = try store.join("a")
        try database.query(
            """
            INSERT INTO bghost_partitions.run
                SELECT n::text, 'a', 'r', n, '{}' FROM generate_series(1, 25000) n;
            INSERT INTO bghost_partitions.moved VALUES ('old', 1);
            INSERT INTO bghost_partitions.moved VALUES ('new', 9000000000000000000)
            """
        )
        for number in 1...3 {
            #expect(try store.commit(FleetBatch(), number: Int64(number), session) > 0)
        }
        #expect(try database.query("SELECT count(*) FROM bghost_partitions.run") == ["0"])
        #expect(try database.query("SELECT id FROM bghost_partitions.moved") == ["new"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A schema of version 3 is migrated with what it has`() throws {
        var connector = PostgreSQLConnector(
            connection: database.connection,
            schema: PartitionSchema.versions(
                [PartitionSchema.first, PartitionSchema.letters, PartitionSchema.listing]
            )
        )
        // Only the tables that it makes matter.
        _ = try connector.connect(timeout: 120_000_000_000)
        let version = "SELECT version FROM bghost_partitions.fleet"
        #expect(try database.query(version) == ["3"])
        try database.query("INSERT INTO bghost_partitions.cancel VALUES ('1', 0, 0, 'a')")
        var store = store
        let session = try store.join("a")
        #expect(try database.query(version) == ["4"])
        #expect(try database.query("SELECT request FROM bghost_partitions.cancel") == ["1"])
        let letter = FleetLetter(Self.request(1, task: "a"), .append)
        for _ in 0..<2 { try store.move([letter]) }
        #expect(try store.letters(limit: 10, session) == [letter])
    }
}
