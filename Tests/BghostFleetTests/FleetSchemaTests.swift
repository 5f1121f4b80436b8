// SPDX-License-Identifier: Apache-2.0

@testable import BghostFleet
import BghostModel
import BghostTestSupport
import Testing

/// Versions of the schema, in a real PostgreSQL.
@Suite(.serialized, .ownThreads, .postgreSQL) struct FleetSchemaTests {
    private let database: FleetDatabase

    init() throws { database = try FleetDatabase() }

    /// The version that bghost knows.
    private static let present = FleetSchema.migrations.count

    /// A version that does not exist: it fails if it is made twice.
    private static let next =
        FleetSchema.migrations + [
            "CREATE TABLE bghost.next (host text); INSERT INTO bghost.next VALUES ('made');"
        ]

    private func version() throws -> [String] {
        try database.query("SELECT version FROM bghost.fleet")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A newer schema is refused, and left as it is`() throws {
        _ = try database.host("web-1").renew()
        try database.query("UPDATE bghost.fleet SET version = \(Self.present + 1)")
        let problem = try #require(refusal { _ = try database.host("web-2").renew() })
        #expect(problem.kind == .version)
        #expect(problem.reason.contains("version \(Self.present + 1)"), "\(problem)")
        #expect(problem.reason.contains("knows only \(Self.present)"), "\(problem)")
        #expect(problem.reason.contains("update bghost on this host"))
        #expect(try database.query("SELECT name FROM bghost.host") == ["web-1"])
        #expect(try version() == ["\(Self.present + 1)"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A schema without a version is refused, and left as it is`() throws {
        _ = try database.host("web-1").renew()
        try database.query("DELETE FROM bghost.fleet")
        let problem = try #require(refusal { _ = try database.host("web-2").renew() })
        #expect(problem.kind == .version && problem.reason.contains("has no version"))
        #expect(try version().isEmpty)
    }

    @Test(.timeLimit(.minutes(5)))
    func `The next version is made once, whichever hosts start together`() async throws {
        // One of the databases has the version before, the other one nothing.
        for hasSchema in [true, false] {
            let database = try FleetDatabase()
            if hasSchema { _ = try database.host("web-0").renew() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...6 {
                    group.addTask {
                        let name = "web-\(number)"
                        let host = database.host(name, migrations: Self.next)
                        let renewal = try host.renew()
                        #expect(renewal.open.isEmpty)
                    }
                }
                try await group.waitForAll()
            }
            let version = try database.query("SELECT version FROM bghost.fleet")
            #expect(version == ["\(Self.present + 1)"])
            #expect(try database.query("SELECT host FROM bghost.next") == ["made"])
            let hosts = try database.query("SELECT count(*) FROM bghost.host")
            #expect(hosts == [hasSchema ? "7" : "6"])
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A host of the version before notices, claims nothing more and names the reason`() throws {
        let old = database.host("web-1")
        let new = database.host("web-2", migrations: Self.next)
        _ = try old.renew()
        #expect(try old.claim(FleetDatabase.claim(100, 1)) == .claimed)
        _ = try new.renew()
        // It has not renewed its lease since.
        #expect(try old.claim(FleetDatabase.claim(200, 1)) == .unknown)
        let problem = try #require(refusal { _ = try old.renew() })
        let reason = "version \(Self.present + 1)"
        #expect(problem.kind == .version && problem.reason.contains(reason), "\(problem)")
        #expect(refusal { _ = try old.claim(FleetDatabase.claim(200, 1)) }?.kind == .version)
        // What it has is not taken before its lease ends.
        #expect(try new.claim(FleetDatabase.claim(100, 2)) == .taken(by: "web-1"))
        #expect(try new.claim(FleetDatabase.claim(200, 2)) == .claimed)
        // Its next daemon, which is newer, gets it back.
        let updated = database.host("web-1", migrations: Self.next)
        #expect(try updated.renew().open == [FleetDatabase.claim(100, 1)])
    }

    @Test(.timeLimit(.minutes(5)))
    func `Hosts and starts of the first version stay, and no host is drained`() throws {
        // The tables of the first version, as a host of that version left them.
        try database.query(
            """
            \(FleetSchema.migrations[0])
            UPDATE bghost.fleet SET version = 1;
            INSERT INTO bghost.host VALUES ('web-0', 'instance of web-0', 7, interval '600 s',
                clock_timestamp() + interval '600 s', clock_timestamp(), '0.1.0');
            INSERT INTO bghost.start VALUES ('report', 100, 'web-0', 'instance of web-0', 7,
                '\(FleetDatabase.claim(100, 1).request)', clock_timestamp() + interval '600 s',
                clock_timestamp(), NULL)
            """
        )
        let one = database.host("web-1")
        _ = try one.renew(tasks: "abc")
        #expect(try one.claim(FleetDatabase.claim(100, 2)) == .taken(by: "web-0"))
        let hosts = try one.hosts()
        #expect(hosts.map(\.name) == ["web-0", "web-1"])
        #expect(hosts.allSatisfy { $0.state == .live && $0.drainedAt == nil }, "\(hosts)")
        #expect(hosts.map(\.tasks) == ["", "abc"] && hosts[0].clock == nil)
        // Its updated daemon gets its start back.
        #expect(try database.host("web-0").renew().open == [FleetDatabase.claim(100, 1)])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A version that cannot be made leaves the one before`() throws {
        _ = try database.host("web-1").renew()
        let broken = FleetSchema.migrations + ["CREATE TABLE bghost.half (x int); PERFORM 1 / 0;"]
        let host = database.host("web-2", migrations: broken)
        let problem = try #require(refusal { _ = try host.renew() })
        #expect(problem.kind == .statement && problem.reason.contains("zero"), "\(problem)")
        #expect(try version() == ["\(Self.present)"])
        #expect(try database.query("SELECT 1 FROM pg_tables WHERE tablename = 'half'").isEmpty)
        #expect(try database.host("web-3").renew().open.isEmpty)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A host that waited for the lock adds nothing to a newer schema`() async throws {
        let holder = try database.session()
        try holder.run("BEGIN; SELECT pg_advisory_xact_lock(\(FleetSchema.lock))")
        let old = database.host("web-1")
        async let answer = refusal { _ = try old.renew() }
        _ = try database.blockedBackend()
        // What a newer host does meanwhile, with other tables.
        try holder.run(
            """
            CREATE SCHEMA bghost; CREATE TABLE bghost.fleet (one int, version int NOT NULL);
            INSERT INTO bghost.fleet VALUES (1, 9); COMMIT
            """
        )
        let problem = try #require(await answer)
        #expect(problem.kind == .version && problem.reason.contains("version 9"), "\(problem)")
        let tables = try database.query(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'bghost'"
        )
        #expect(tables == ["fleet"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A host that does not get the lock in time changes nothing and tries again`() throws {
        let holder = try database.session()
        try holder.run("BEGIN; SELECT pg_advisory_xact_lock(\(FleetSchema.lock))")
        let host = database.host("web-1", lease: .seconds(40))
        let problem = try #require(refusal { _ = try host.renew() })
        #expect(problem.kind == .unreachable && problem.reason.contains("has not answered"))
        #expect(try database.query("SELECT 1 FROM pg_tables WHERE schemaname = 'bghost'").isEmpty)
        try holder.run("COMMIT")
        #expect(try host.renew().open.isEmpty)
        #expect(try version() == ["\(Self.present)"])
    }
}
