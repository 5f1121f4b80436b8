// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostFleet
import BghostFleetRules
@testable import BghostFleetStore
import BghostFleetSupport
import BghostModel
import BghostPolicy
import BghostTestSupport
import Synchronization
import Testing

/// The partitions of a fleet in a real PostgreSQL.
@Suite(.serialized, .ownThreads, .postgreSQL) struct PostgreSQLPartitionsTests {
    /// A database for one check.
    struct Harness: FleetHarness {
        let database: FleetDatabase
        var store: PostgreSQLPartitions

        init() throws {
            database = try FleetDatabase()
            store = database.partitions()
        }

        func pass(_ nanoseconds: UInt64) {
            query(
                """
                UPDATE bghost_partitions.host SET
                    lease_until = lease_until - make_interval(secs => \(Double(nanoseconds) / 1e9))
                """
            )
        }

        private static let tables = [
            "fleet", "host", "partition", "request", "memory", "run", "inbox", "cancel", "moved",
        ]

        func save() {
            // The first call makes the tables.
            #expect(throws: Never.self) { try store.incarnation(of: "") }
            query("DROP SCHEMA IF EXISTS saved CASCADE; CREATE SCHEMA saved")
            for table in Self.tables {
                query("CREATE TABLE saved.\(table) AS TABLE bghost_partitions.\(table)")
            }
        }

        func goBack() {
            for table in Self.tables {
                query(
                    """
                    TRUNCATE bghost_partitions.\(table);
                    INSERT INTO bghost_partitions.\(table) TABLE saved.\(table)
                    """
                )
            }
        }

        private func query(_ sql: String) {
            #expect(throws: Never.self) { try database.query(sql) }
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: FleetConformance<Harness>.checks)
    func `The fleet in PostgreSQL conforms`(_ check: FleetConformance<Harness>.Check) throws {
        try check.pass(Harness())
    }

    @Test(.timeLimit(.minutes(5)))
    func `A host with another number of partitions is refused`() throws {
        let database = try FleetDatabase()
        let terms = HostTerms(name: "a", lease: FleetSample.lease, slots: 2)
        var random = SeededGenerator(seed: 1)
        let first = database.partitions()
        let session = try first.register(
            terms,
            after: .none,
            nonce: FenceNonce(using: &random)
        )
        let second = database.partitions(16)
        let other = HostTerms(name: "b", lease: FleetSample.lease, slots: 2)
        let nonce = FenceNonce(using: &random)
        let refusal = #expect(throws: FleetRefusal.self) {
            try second.register(other, after: .none, nonce: nonce)
        }
        guard case .failed(let problem)? = refusal else {
            Issue.record("16 partitions are not 8: \(String(describing: refusal))")
            return
        }
        #expect(problem.kind == .version, "\(problem)")
        #expect(problem.reason.contains("than the 16 of this host"), "\(problem)")
        #expect(try second.incarnation(of: "b") == .none)
        try first.leave(session)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A schema of version 1 is migrated with what it has`() throws {
        let database = try FleetDatabase()
        var connector = PostgreSQLConnector(
            connection: database.connection,
            schema: PartitionSchema.versions([PartitionSchema.first])
        )
        // Only the tables that it makes matter.
        _ = try connector.connect(timeout: 120_000_000_000)
        let version = "SELECT version FROM bghost_partitions.fleet"
        #expect(try database.query(version) == ["1"])
        try database.query("INSERT INTO bghost_partitions.run VALUES ('1', 'a', '1', 1, '{}')")
        let store = database.partitions()
        #expect(try store.incarnation(of: "a") == .none)
        #expect(try database.query(version) == ["4"])
        #expect(try database.query("SELECT id FROM bghost_partitions.run") == ["1"])
        var random = SeededGenerator(seed: 1)
        let terms = HostTerms(name: "a", lease: FleetSample.lease, slots: 2)
        let session = try store.register(
            terms,
            after: .none,
            nonce: FenceNonce(using: &random)
        )
        // The first batch also deletes runs that are older than 30 days.
        #expect(try store.commit(FleetBatch(), number: 1, session) > 0)
        #expect(try database.query("SELECT id FROM bghost_partitions.run").isEmpty)
    }

    /// More requests than a page has, and texts that SQL and JSON have their own signs for.
    @Test(.timeLimit(.minutes(5)))
    func `A large partition comes back as it was`() throws {
        let database = try FleetDatabase()
        let store = database.partitions()
        let partition = PartitionID(number: 0)
        let session = try store.join("h\"'\\é")
        let requests = (1...2500).map { number in
            var request = FleetSample.request(number, task: "t\(number)")
            request.parameters = #"{"text": "\u0000\"' $1 {,} \\ \#(number) 🙂"}"#
            return request
        }
        let memories = (0..<1500).map { TaskMemory(identifier: "m'\($0)", lastServedTime: 7) }
        var fold = BatchFold()
        #expect(
            try fold.add(
                requests.map { .accepted($0, replacing: nil) } + memories.map { .remembered($0) },
                in: partition
            ).isEmpty
        )
        #expect(try store.commit(fold.take(), number: 1, session) > 0)
        let found = try database.partitions().contents(of: partition)
        #expect(found.pending == requests)
        #expect(Set(found.memories.map(\.identifier)) == Set(memories.map(\.identifier)))
        #expect(found.memories.allSatisfy { $0.lastServedTime == 7 })
        #expect(throws: FleetRefusal.unknownPartition) {
            try store.contents(of: PartitionID(pool: 9, number: 0))
        }
    }

    /// Hosts commit at the same time, and the server ends their sessions at any moment.
    ///
    /// What a host was answered is kept, and what was not is kept or not, as `resume` says.
    @Test(.timeLimit(.minutes(10)))
    func `No batch is lost or kept twice while connections break`() async throws {
        let database = try FleetDatabase()
        let hosts = 3
        let ended = EndedHosts()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for host in 0..<hosts {
                group.addTask {
                    defer { ended.count.withLock { $0 += 1 } }
                    var journey = HostJourney(database, name: "h\(host)", seed: UInt64(host))
                    try journey.run(batches: 60)
                }
            }
            group.addTask {
                while ended.count.withLock({ $0 }) < hosts {
                    try database.query(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = '\(database.name)' AND application_name = 'bghost'
                            AND random() < 0.2
                        """
                    )
                }
            }
            try await group.waitForAll()
        }
        #expect(try database.query("SELECT count(*) FROM bghost_partitions.host") == ["3"])
    }
}

private final class EndedHosts: Sendable {
    let count = Mutex(0)
}

/// What one host does in the test of broken connections, and what it knows to be kept.
private struct HostJourney {
    private let store: PostgreSQLPartitions
    private let name: String
    private var random: SeededGenerator
    private var queue = BatchQueue()
    private var pending: Set<RunID> = []
    private var broken = 0

    init(_ database: FleetDatabase, name: String, seed: UInt64) {
        store = database.partitions()
        self.name = name
        random = SeededGenerator(seed: seed)
    }

    /// The answer to a call; `nil` if the connection broke.
    private mutating func answer<Answer>(
        _ call: (PostgreSQLPartitions) throws -> Answer
    ) throws -> Answer? {
        do {
            return try call(store)
        } catch {
            guard case .failed(let problem)? = error as? FleetRefusal,
                problem.kind == .unreachable
            else { throw error }
            broken += 1
            return nil
        }
    }

    /// Commits at least as many batches, and more until its connection has broken five times.
    mutating func run(batches: Int) throws {
        var session = try register()
        let partition = try claim(&session)
        var number = 0
        while number < batches || broken < 5 {
            number += 1
            let task = "\(name).\(number)"
            let request = FleetSample.request(number, task: task)
            var changes: [StoreChange] = [.accepted(request, replacing: nil)]
            // Each third one is taken back later.
            if number % 3 == 0, let gone = pending.min() {
                changes.append(.closed(gone, .cancelled))
                pending.remove(gone)
            }
            pending.insert(request.id)
            #expect(try queue.add(changes, in: partition).local.isEmpty)
            try commit(&session)
        }
        var found: PartitionContents?
        while found == nil { found = try answer { try $0.contents(of: partition) } }
        #expect(found?.pending.map(\.id) == pending.sorted())
    }

    private mutating func register() throws -> HostSession {
        let terms = HostTerms(name: name, lease: 600 * FleetSample.second, slots: 1)
        let name = name
        while true {
            // A registration without an answer may be in force, so the last one is asked for each time.
            guard let last = try answer({ try $0.incarnation(of: name) }) else { continue }
            let nonce = FenceNonce(using: &random)
            let session = try answer { try $0.register(terms, after: last, nonce: nonce) }
            if let session { return session }
        }
    }

    /// Claims until there is a partition, and gives back all others, since three hosts share them.
    private mutating func claim(_ session: inout HostSession) throws -> PartitionID {
        while true {
            let nonce = session.draw(using: &random)
            let current = session
            let claimed = try answer {
                try $0.claim(holding: [], mayReap: false, nonce: nonce, current)
            }
            guard let claimed else {
                session = try resumed(session).session
                continue
            }
            session = claimed.session
            guard let grant = claimed.grants.first else { continue }
            let surplus = claimed.grants.dropFirst().map(\.partition)
            let next = session
            while try answer({ try $0.release(surplus, next) }) == nil {}
            return grant.partition
        }
    }

    private mutating func resumed(_ session: HostSession) throws -> ResumedSession {
        var session = session
        while true {
            let nonce = session.draw(using: &random)
            let current = session
            if let resumed = try answer({ try $0.resume(current, nonce: nonce) }) { return resumed }
        }
    }

    private mutating func commit(_ session: inout HostSession) throws {
        var sent = try queue.send()
        while true {
            let (batch, current) = (sent, session)
            if try answer({ try $0.commit(batch.batch, number: batch.number, current) }) != nil {
                queue.answered()
                return
            }
            let resumed = try resumed(session)
            session = resumed.session
            switch queue.resumed(last: resumed.lastBatch) {
            case .kept: return
            case .again(let batch): sent = batch
            case .idle, .wentBack:
                Issue.record("the server has another last batch: \(resumed.lastBatch)")
                return
            }
        }
    }
}

extension FleetDatabase {
    /// A host's view of the partitions, whose calls end after two minutes at most.
    func partitions(_ count: UInt16 = 8) -> PostgreSQLPartitions {
        PostgreSQLPartitions(
            connection: connection,
            partitions: count,
            timeout: 120_000_000_000
        )
    }
}

extension PostgreSQLPartitions {
    /// All contents of a partition.
    func contents(of partition: PartitionID) throws(FleetRefusal) -> PartitionContents {
        var whole = PartitionContents()
        var place: ContentsPlace?
        repeat {
            let page = try contents(of: partition, after: place)
            whole.append(page.contents)
            place = page.next
        } while place != nil
        return whole
    }

    /// Registers a host, which claims all partitions that are free.
    func join(_ name: String) throws -> HostSession {
        var random = SeededGenerator(seed: 1)
        var session = try register(
            HostTerms(name: name, lease: FleetSample.lease, slots: 2),
            after: .none,
            nonce: FenceNonce(using: &random)
        )
        let nonce = session.draw(using: &random)
        return try claim(holding: [], mayReap: false, nonce: nonce, session).session
    }
}
