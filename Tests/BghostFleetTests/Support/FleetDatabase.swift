// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostFleet
import BghostLinux
import BghostModel
import BghostTestSupport
import Synchronization
import Testing

/// A database of a test on a real server, and hosts that use it.
struct FleetDatabase: Sendable {
    private static let counter = Mutex(0)

    let server: PostgreSQLServer
    let name: String
    let connection: String

    /// - Parameter server: by default the one of the suite.
    init(_ server: PostgreSQLServer? = nil) throws {
        self.server = try server ?? #require(WithPostgreSQL.server)
        let number = Self.counter.withLock { number in
            number += 1
            return number
        }
        name = "faults\(number)"
        connection = try self.server.database(name)
    }

    /// A host, whose calls end after a quarter of its lease at most.
    ///
    /// By default that never matters, also on a busy machine.
    func host(
        _ name: String,
        connection: String? = nil,
        lease: Duration = .seconds(600),
        migrations: [String] = FleetSchema.migrations,
        wall: @escaping @Sendable () -> Int64 = { WallClock.now }
    ) -> PostgreSQLFleet {
        PostgreSQLFleet(
            FleetSettings(
                connection: connection ?? self.connection,
                name: name,
                lease: lease
            ),
            instance: "instance of \(name)",
            version: "0.2.0",
            migrations: migrations,
            wall: wall
        )
    }

    /// A session of the test, for instance to hold a lock.
    func session() throws -> PostgreSQLSession {
        try PostgreSQLSession(try LibPQ.load(), connection, timeout: 120_000_000_000)
    }

    @discardableResult
    func query(_ sql: String) throws -> [String] { try server.query(sql, in: name) }

    /// Waits until a question to the server has an answer, and returns its first line.
    func answer(to sql: String) throws -> String {
        // Each question starts a program, so this does not keep the server busy.
        for _ in 0..<5000 {
            if let line = try query(sql).first { return line }
        }
        throw PostgreSQLServer.Failure(text: "no answer to \(sql)")
    }

    /// Waits until a host waits for a lock, and returns the process of the server that works for it.
    func blockedBackend() throws -> Int32 {
        let line = try answer(
            to: """
                SELECT pid FROM pg_stat_activity
                WHERE datname = '\(name)' AND wait_event_type = 'Lock'
                """
        )
        return try #require(Int32(line))
    }

    /// Lets the lease of a host and of its claims end, as if that much time had passed.
    func endLease(of host: String) throws {
        let ended = "clock_timestamp() - interval '1 second'"
        try query("UPDATE bghost.host SET lease_until = \(ended) WHERE name = '\(host)'")
        try query("UPDATE bghost.start SET lease_until = \(ended) WHERE host = '\(host)'")
    }

    /// Lets the lease of a host end without a word of it, as if it had died that long ago.
    func die(_ host: String) throws {
        try query(
            """
            UPDATE bghost.host SET seen_at = clock_timestamp() - lease * 2,
                lease_until = clock_timestamp() - lease WHERE name = '\(host)';
            UPDATE bghost.start SET lease_until = clock_timestamp() - interval '1 second'
                WHERE host = '\(host)'
            """
        )
    }

    static func claim(_ slot: Int64, _ request: UInt64) -> FleetClaim {
        FleetClaim(task: "report", slot: slot, request: RunID(high: 7, low: request))
    }
}

extension FleetLink {
    /// Renews the lease of a host whose tasks do not matter.
    func renew() throws(FleetProblem) -> FleetRenewal { try renew(tasks: "") }

    /// Claims one start.
    func claim(_ claim: FleetClaim) throws(FleetProblem) -> FleetAnswer {
        try self.claim([claim]).first ?? .unknown
    }

    /// Ends one claim.
    func release(_ claim: FleetClaim, _ release: FleetRelease) throws(FleetProblem) {
        try self.release([claim], release)
    }
}

/// The problem that a call throws; `nil` if it throws none.
func refusal(_ body: () throws -> Void) -> FleetProblem? {
    do {
        try body()
        return nil
    } catch {
        return error as? FleetProblem
    }
}
