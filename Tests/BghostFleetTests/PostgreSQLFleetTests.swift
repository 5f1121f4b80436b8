// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostFleet
import BghostModel
import BghostTestSupport
import Testing

/// Leases and claims in a real PostgreSQL.
@Suite(.serialized, .ownThreads, .postgreSQL) struct PostgreSQLFleetTests {
    private static let counter = Counter()
    /// Nanoseconds; a quarter of it is longer than any call takes on a busy machine.
    private let lease: Int64 = 600_000_000_000

    private let server: PostgreSQLServer
    private let database: String
    private let connection: String

    init() throws {
        server = try #require(WithPostgreSQL.server)
        database = "fleet\(Self.counter.next())"
        connection = try server.database(database)
    }

    private func fleet(
        _ name: String,
        instance: String? = nil,
        connection: String? = nil,
        library: String? = nil
    ) -> PostgreSQLFleet {
        PostgreSQLFleet(
            FleetSettings(
                connection: connection ?? self.connection,
                name: name,
                lease: .nanoseconds(lease)
            ),
            instance: instance ?? "instance of \(name)",
            version: "0.2.0",
            library: library
        )
    }

    private func claim(_ slot: Int64, _ request: UInt64, task: String = "report") -> FleetClaim {
        FleetClaim(task: task, slot: slot, request: RunID(high: 7, low: request))
    }

    /// Lets the lease of a host and of its claims end, as if that much time had passed.
    private func endLease(of host: String) throws {
        let ended = "clock_timestamp() - interval '1 second'"
        try server.query(
            "UPDATE bghost.host SET lease_until = \(ended) WHERE name = '\(host)'",
            in: database
        )
        try server.query(
            "UPDATE bghost.start SET lease_until = \(ended) WHERE host = '\(host)'",
            in: database
        )
    }

    private func refusal(_ body: () throws -> Void) -> FleetProblem? {
        do {
            try body()
            return nil
        } catch {
            return error as? FleetProblem
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `One of two hosts gets a start and the other hears who serves it`() throws {
        let (one, two) = (fleet("web-1"), fleet("web-2"))
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try one.renew().open.isEmpty)
        #expect(try two.renew().open.isEmpty)
        #expect(try one.claim(claim(100, 1)) == .claimed)
        #expect(try two.claim(claim(100, 2)) == .taken(by: "web-1"))
        // A claim that is made again is confirmed, and so is another start.
        #expect(try one.claim(claim(100, 1)) == .claimed)
        #expect(try two.claim(claim(200, 3)) == .claimed)
        try one.release(claim(100, 1), .served)
        #expect(try two.claim(claim(100, 2)) == .served(by: "web-1"))
        // Another request of the same host does not serve it again, a retry of the same one does.
        #expect(try one.claim(claim(100, 9)) == .served(by: "web-1"))
        #expect(try one.claim(claim(100, 1)) == .claimed)
        let hosts = try two.hosts()
        #expect(hosts.map(\.name) == ["web-1", "web-2"])
        #expect(hosts.map(\.claims) == [1, 1])
        let passed = Int64((clock.now - start) / .nanoseconds(1))
        let least = lease - passed - 10_000_000
        #expect(hosts.allSatisfy { (least...lease).contains($0.leaseLeft) }, "\(hosts)")
        #expect(hosts.allSatisfy { $0.version == "0.2.0" && $0.seenAt > 0 })
    }

    @Test(.timeLimit(.minutes(5)))
    func `A start is taken over when the lease of its host has ended`() throws {
        let (one, two) = (fleet("web-1"), fleet("web-2"))
        _ = try one.renew()
        _ = try two.renew()
        #expect(try one.claim(claim(100, 1)) == .claimed)
        #expect(try one.claim(claim(200, 1, task: "other")) == .claimed)
        try endLease(of: "web-1")
        // A late renewal in time keeps it.
        _ = try one.renew()
        #expect(try two.claim(claim(100, 2)) == .taken(by: "web-1"))
        try endLease(of: "web-1")
        #expect(try two.claim(claim(100, 2)) == .claimed)
        // The first host comes back: it neither has the start nor ends the claim of the other.
        _ = try one.renew()
        try one.release(claim(100, 1), .served)
        #expect(try one.claim(claim(100, 1)) == .taken(by: "web-2"))
        #expect(try one.claim(claim(200, 1, task: "other")) == .claimed)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A freed start and those of a host that left are for the others at once`() throws {
        let (one, two) = (fleet("web-1"), fleet("web-2"))
        _ = try one.renew()
        _ = try two.renew()
        #expect(try one.claim(claim(100, 1)) == .claimed)
        #expect(try one.claim(claim(200, 1)) == .claimed)
        try one.release(claim(100, 1), .free)
        #expect(try two.claim(claim(100, 2)) == .claimed)
        #expect(try two.claim(claim(200, 2)) == .taken(by: "web-1"))
        one.leave()
        #expect(try two.claim(claim(200, 2)) == .claimed)
        #expect(try #require(try two.hosts().first).leaseLeft <= 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `The next daemon of a host gets its claims back`() throws {
        let first = fleet("web-1")
        _ = try first.renew()
        #expect(try first.claim(claim(100, 1)) == .claimed)
        #expect(try first.claim(claim(200, 2)) == .claimed)
        try first.release(claim(200, 2), .served)
        let second = fleet("web-1")
        #expect(try second.renew().open == [claim(100, 1)])
        #expect(try second.claim(claim(100, 1)) == .claimed)
        // The first one notices, and does not take the name back.
        #expect(refusal { _ = try first.renew() }?.kind == .nameTaken)
        #expect(refusal { _ = try first.renew() }?.kind == .nameTaken)
        #expect(try second.renew().open.isEmpty)
    }

    @Test(.timeLimit(.minutes(5)))
    func `Two hosts with one name are told apart`() throws {
        let one = fleet("web-1", instance: "a")
        _ = try one.renew()
        #expect(try one.claim(claim(100, 1)) == .claimed)
        let other = fleet("web-1", instance: "b")
        let problem = try #require(refusal { _ = try other.renew() })
        #expect(problem.kind == .nameTaken)
        #expect(problem.reason.contains("`web-1`") && problem.reason.contains("host.fleet.name"))
        #expect(try other.claim(claim(100, 2)) == .unknown)
        #expect(try one.renew().open.isEmpty)
        try endLease(of: "web-1")
        // What it has to do with the claims of the other is nothing.
        #expect(try other.renew().open.isEmpty)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A database that cannot be written to is refused`() throws {
        let member = fleet("web-1")
        _ = try member.renew()
        try server.query(
            "ALTER DATABASE \(database) SET default_transaction_read_only = on",
            in: database
        )
        #expect(refusal { _ = try fleet("web-2").renew() }?.kind == .readOnly)
        #expect(try server.query("SELECT count(*) FROM bghost.start", in: database) == ["0"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A user without rights and a database that does not exist are refused`() throws {
        try server.query("CREATE ROLE \(database)_guest LOGIN", in: database)
        let guest = server.connection(database, user: database + "_guest")
        let poor = try #require(refusal { _ = try fleet("web-1", connection: guest).renew() })
        #expect(poor.kind == .refused && poor.reason.contains("lacks a right"), "\(poor)")
        let nowhere = server.connection("nowhere")
        let lost = try #require(refusal { _ = try fleet("web-1", connection: nowhere).renew() })
        #expect(lost.kind == .refused && lost.reason.contains("nowhere"), "\(lost)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A wrong password is refused and the right one is taken`() throws {
        try server.query(
            "CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'geheim'",
            in: database
        )
        let guarded = server.connection(database, user: "guarded")
        let wrong = fleet("web-1", connection: guarded + " password=falsch")
        let problem = try #require(refusal { _ = try wrong.renew() })
        #expect(problem.kind == .refused && problem.reason.contains("password"), "\(problem)")
        #expect(!problem.reason.contains("falsch"))
        #expect(try server.query("SELECT to_regclass('bghost.host')", in: database).isEmpty)
        #expect(try fleet("web-1", connection: guarded + " password=geheim").renew().open.isEmpty)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A wrong address or text is an error without the text`() throws {
        let folder = try TemporaryDirectory()
        let away = fleet("web-1", connection: "host=\(folder.path) dbname=x password=geheim")
        let problem1 = try #require(refusal { _ = try away.renew() })
        #expect(problem1.kind == .unreachable && !problem1.reason.contains("geheim"))
        let wrong = fleet("web-1", connection: "geheim is no connection string")
        let problem2 = try #require(refusal { _ = try wrong.renew() })
        #expect(problem2.kind == .refused && !problem2.reason.contains("geheim"))
        #expect(problem2.reason.contains("host.fleet.connection"))
    }

    @Test func `A missing libpq is an error that names the package`() throws {
        let alone = fleet("web-1", library: "libpq-that-is-not-there.so.5")
        let problem = try #require(refusal { _ = try alone.renew() })
        #expect(problem.kind == .library && problem.reason.contains("libpq5"))
    }

    @Test(.timeLimit(.minutes(5)))
    func `A host goes on after its server was away`() throws {
        let own = try PostgreSQLServer()
        let database = try own.database("fleet")
        let member = fleet("web-1", connection: database)
        _ = try member.renew()
        #expect(try member.claim(claim(100, 1)) == .claimed)
        try own.stop()
        #expect(refusal { _ = try member.renew() }?.kind == .unreachable)
        #expect(refusal { _ = try member.claim(claim(200, 2)) }?.kind == .unreachable)
        try own.start()
        // Its registration and its claims are still there.
        #expect(try member.renew().open.isEmpty)
        #expect(try member.hosts().map(\.claims) == [1])
        #expect(try own.query("SELECT incarnation FROM bghost.host", in: "fleet") == ["1"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `Of many hosts that claim the same starts exactly one gets each`() async throws {
        let members = (1...6).map { fleet("web-\($0)") }
        for member in members { _ = try member.renew() }
        let won = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for (index, member) in members.enumerated() {
                group.addTask {
                    try (0..<40).filter { slot in
                        let id = RunID(high: UInt64(index), low: UInt64(slot))
                        let claim = FleetClaim(task: "report", slot: slot, request: id)
                        return try member.claim(claim) == .claimed
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(won.sorted() == Array(0..<40))
    }

    @Test func `The id of a state directory is made once`() throws {
        let folder = try TemporaryDirectory()
        let id = FleetInstance.id(inStateDirectory: folder.path)
        #expect(id.utf8.count == 32)
        #expect(FleetInstance.id(inStateDirectory: folder.path) == id)
        _ = try folder.write("cut off", to: "fleet-instance")
        #expect(FleetInstance.id(inStateDirectory: folder.path) != id)
    }
}

private final class Counter: @unchecked Sendable {
    // @unchecked: the suite is serialized.
    private var value = 0

    func next() -> Int {
        value += 1
        return value
    }
}
