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
    private let libraryName: String
    /// Tests have further ones.
    private let migrations: [String]
    private var library: LibPQ?
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
        self.migrations = migrations
        self.settings = settings
        self.instance = instance
        self.version = version
        libraryName = library ?? LibPQ.soname
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
            present == migrations.count
        else {
            session = nil
            throw otherVersion(row.count > 1 ? row[1] : nil)
        }
        try cleanUp()
        return FleetRenewal(sentAt: sentAt, open: [])
    }

    package func claim(_ claim: FleetClaim) throws(FleetProblem) -> FleetAnswer {
        guard let incarnation else { return .unknown }
        let key = [claim.task, "\(claim.slot)"]
        let own = try rows(
            FleetSchema.claim,
            key + ["\(claim.request)", settings.name, "\(incarnation)", "\(migrations.count)"]
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

    /// A session of a server that can be written to and has this version's schema.
    private func readySession() throws(FleetProblem) -> PostgreSQLSession {
        if let session { return session }
        if library == nil { library = try LibPQ.load(libraryName) }
        guard let library else { throw FleetProblem(.library, "libpq is not loaded") }
        let session = try PostgreSQLSession(library, settings.connection, timeout: timeout)
        let greeting = try session.rows(FleetSchema.greeting, ["\(timeout / 1_000_000)"]).first
        guard let greeting, greeting.count == 5 else {
            throw FleetProblem(.statement, "the server's first answer is none of PostgreSQL's")
        }
        guard greeting[4] != "t" else {
            throw FleetProblem(
                .readOnly,
                "the server cannot be written to (a standby, or read-only); name its primary, with"
                    + " several hosts also `target_session_attrs=read-write`"
            )
        }
        var present = greeting[3] == "t" ? try schemaVersion(session) : "0"
        if let number = present.flatMap({ Int($0) }), number < migrations.count {
            try session.run(FleetSchema.migration(migrations))
            present = try schemaVersion(session)
        }
        guard present == "\(migrations.count)" else { throw otherVersion(present) }
        self.session = session
        return session
    }

    private func schemaVersion(_ session: PostgreSQLSession) throws(FleetProblem) -> String? {
        try session.rows(FleetSchema.versionQuestion).first?.first ?? nil
    }

    private func otherVersion(_ present: String?) -> FleetProblem {
        let wanted = migrations.count
        guard let present, let number = Int(present) else {
            return FleetProblem(
                .version,
                "schema `bghost` of the database has no version, although it has tables; restore it"
                    + " from a backup, or drop it while all hosts are stopped"
            )
        }
        return FleetProblem(
            .version,
            number > wanted
                ? "schema `bghost` of the database has version \(number), which a newer bghost on"
                    + " another host made, and this bghost knows only \(wanted); update bghost on this"
                    + " host"
                : "schema `bghost` of the database has version \(number) again, since the database was set"
                    + " back; this bghost migrates it to \(wanted) when it connects again"
        )
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
