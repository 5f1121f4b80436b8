// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// A fleet in a PostgreSQL database, as one host uses it.
///
/// Use it on one thread; each call blocks for a quarter of the lease at most, but for the look-up of the
/// server's name. Only a registered host makes claims.
package final class PostgreSQLFleet: FleetLink, @unchecked Sendable {
    // @unchecked: its user calls it on one thread only.

    private let settings: FleetSettings
    private let version: String
    private let instance: String
    private let schema: SchemaVersions
    private var connector: PostgreSQLConnector
    private var session: PostgreSQLSession?
    /// The number of this daemon's registration; `nil` before it, and after another daemon's.
    private var incarnation: Int?
    private var hasName = true
    private var cleanedAt: MonotonicInstant?

    /// How often old rows are deleted, nanoseconds.
    private static let cleanupPeriod: UInt64 = 3600 * 1_000_000_000

    /// - Parameters:
    ///   - instance: identifies the state directory of the daemon, so that its next daemon takes over at once
    ///     what it had.
    ///   - version: the version of bghost, for lists of the hosts.
    ///   - library: the name or the path of libpq.
    package convenience init(
        _ settings: FleetSettings,
        instance: String,
        version: String,
        library: String? = nil
    ) {
        self.init(
            settings,
            instance: instance,
            version: version,
            library: library,
            migrations: FleetSchema.migrations
        )
    }

    init(
        _ settings: FleetSettings,
        instance: String,
        version: String,
        library: String? = nil,
        migrations: [String]
    ) {
        schema = FleetSchema.versions(migrations)
        connector = PostgreSQLConnector(
            connection: settings.connection,
            schema: schema,
            library: library
        )
        self.settings = settings
        self.instance = instance
        self.version = version
    }

    // MARK: FleetLink

    package func renew() throws(FleetProblem) -> FleetRenewal {
        let sentAt = BootClock.now
        guard let incarnation else { return try register() }
        let row = try renewed(incarnation)
        guard row.first == "1" else {
            self.incarnation = nil
            hasName = false
            throw nameTaken
        }
        guard row.count > 1, let present = row[1].flatMap({ Int($0) }),
            present == schema.version
        else {
            session = nil
            throw schema.otherVersion(row.count > 1 ? row[1] : nil)
        }
        try cleanUp()
        return FleetRenewal(sentAt: sentAt, open: [])
    }

    package func claim(_ claim: FleetClaim) throws(FleetProblem) -> FleetAnswer {
        guard let incarnation else { return .unknown }
        let key = [claim.task, "\(claim.slot)"]
        let own = try rows(
            FleetSchema.claim,
            key + ["\(claim.request)", settings.name, "\(incarnation)", "\(schema.version)"]
        )
        if !own.isEmpty { return .claimed }
        guard let row = try rows(FleetSchema.server, key).first, row.count == 2, let host = row[0]
        else { return .unknown }
        return row[1] == "t" ? .served(by: host) : .taken(by: host)
    }

    package func release(_ claim: FleetClaim, _ release: FleetRelease) throws(FleetProblem) {
        _ = try rows(
            release == .served ? FleetSchema.served : FleetSchema.freed,
            [claim.task, "\(claim.slot)", "\(claim.request)", settings.name]
        )
    }

    package func hosts() throws(FleetProblem) -> [FleetHost] {
        try rows(FleetSchema.hosts).compactMap { row in
            guard row.count == 5, let name = row[0], let version = row[1],
                let left = row[2].flatMap(Int64.init), let seen = row[3].flatMap(Int64.init),
                let claims = row[4].flatMap(Int.init)
            else { return nil }
            return FleetHost(
                name: name,
                version: version,
                leaseLeft: left.multipliedClamped(by: 1_000_000),
                seenAt: seen.multipliedClamped(by: 1_000_000),
                claims: claims
            )
        }
    }

    package func leave() {
        defer { session = nil }
        guard let incarnation, let session, !session.isBroken else { return }
        self.incarnation = nil
        do throws(FleetProblem) {
            _ = try session.rows(FleetSchema.leaving, [settings.name, "\(incarnation)"])
        } catch {
            // The others wait for the end of the lease instead.
        }
    }

    // MARK: The session

    private func rows(
        _ statement: String,
        _ parameters: [String] = []
    ) throws(FleetProblem) -> [PostgreSQLSession.Row] {
        let session = try readySession()
        defer { if session.isBroken { self.session = nil } }
        return try session.rows(statement, parameters)
    }

    private var timeout: UInt64 { min(settings.leaseNanoseconds / 4, 10_000_000_000) }

    private func readySession() throws(FleetProblem) -> PostgreSQLSession {
        if let session { return session }
        let session = try connector.connect(timeout: timeout)
        self.session = session
        return session
    }

    /// A refused statement may be one that another version of the schema no longer fits, so the next renewal
    /// reads the version.
    private func renewed(_ incarnation: Int) throws(FleetProblem) -> PostgreSQLSession.Row {
        do throws(FleetProblem) {
            return try rows(FleetSchema.renewal, [settings.name, "\(incarnation)"]).first ?? []
        } catch {
            if error.kind == .statement { session = nil }
            throw error
        }
    }

    private func register() throws(FleetProblem) -> FleetRenewal {
        _ = try readySession()
        let sentAt = BootClock.now
        let seconds = Double(settings.leaseNanoseconds) / 1e9
        let row = try rows(
            FleetSchema.registration,
            [settings.name, instance, "\(seconds)", version, "\(hasName)"]
        ).first
        guard let number = row?.first?.flatMap({ Int($0) }) else { throw nameTaken }
        let open = try rows(FleetSchema.openClaims, [settings.name, instance])
        incarnation = number
        hasName = true
        return FleetRenewal(
            sentAt: sentAt,
            open: open.compactMap { row in
                guard row.count == 3, let task = row[0], let slot = row[1].flatMap(Int64.init),
                    let request = row[2].flatMap(RunID.init)
                else { return nil }
                return FleetClaim(task: task, slot: slot, request: request)
            }
        )
    }

    private var nameTaken: FleetProblem {
        FleetProblem(
            .nameTaken,
            "another daemon is registered as `\(settings.name)`; give each host its own"
                + " `host.fleet.name`. If that daemon is gone, this one begins when its lease has ended"
        )
    }

    private func cleanUp() throws(FleetProblem) {
        let now = BootClock.now
        if let cleanedAt, now.since(cleanedAt) < Self.cleanupPeriod { return }
        cleanedAt = now
        _ = try rows(FleetSchema.cleanup)
    }
}
