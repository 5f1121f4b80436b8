// SPDX-License-Identifier: Apache-2.0

@testable import BghostFleet
import BghostModel
import BghostTestSupport
import Testing

/// Versions of the schema, in a real PostgreSQL.
@Suite(.serialized, .ownThreads, .postgreSQL) struct FleetSchemaTests {
    private let database: FleetDatabase

    init() throws { database = try FleetDatabase() }

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
        try database.query("UPDATE bghost.fleet SET version = 2")
        let problem = try #require(refusal { _ = try database.host("web-2").renew() })
        #expect(problem.kind == .version)
        #expect(problem.reason.contains("version 2") && problem.reason.contains("knows only 1"))
        #expect(problem.reason.contains("update bghost on this host"))
        #expect(try database.query("SELECT name FROM bghost.host") == ["web-1"])
        #expect(try version() == ["2"])
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
            #expect(try database.query("SELECT version FROM bghost.fleet") == ["2"])
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
        #expect(problem.kind == .version && problem.reason.contains("version 2"), "\(problem)")
        #expect(refusal { _ = try old.claim(FleetDatabase.claim(200, 1)) }?.kind == .version)
        // What it has is not taken before its lease ends.
        #expect(try new.claim(FleetDatabase.claim(100, 2)) == .taken(by: "web-1"))
        #expect(try new.claim(FleetDatabase.claim(200, 2)) == .claimed)
        // Its next daemon, which is newer, gets it back.
        let updated = database.host("web-1", migrations: Self.next)
        #expect(try updated.renew().open == [FleetDatabase.claim(100, 1)])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A version that cannot be made leaves the one before`() throws {
        _ = try database.host("web-1").renew()
        let broken = FleetSchema.migrations + ["CREATE TABLE bghost.half (x int); PERFORM 1 / 0;"]
        let host = database.host("web-2", migrations: broken)
        let problem = try #require(refusal { _ = try host.renew() })
        #expect(problem.kind == .statement && problem.reason.contains("zero"), "\(problem)")
        #expect(try version() == ["1"])
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
        #expect(try version() == ["1"])
    }
}
