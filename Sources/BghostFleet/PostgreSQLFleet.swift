// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
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
    /// The wall clock, Unix nanoseconds.
    private let wall: @Sendable () -> Int64
    /// How its clock differs from that of the server, for the next renewal; `nil` before it is measured.
    private var clock: FleetHost.Clock?
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
        migrations: [String],
        wall: @escaping @Sendable () -> Int64 = { WallClock.now }
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
        self.wall = wall
    }

    // MARK: FleetLink

    package func renew(tasks: String) throws(FleetProblem) -> FleetRenewal {
        let (sentAt, sentAtWall) = (BootClock.now, wall())
        guard let incarnation else { return try register(tasks) }
        let row = try renewed(incarnation, tasks)
        let answerTook = BootClock.now.since(sentAt)
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
        if row.count > 3, let server = row[3].flatMap({ Int64($0) }) {
            let half = Int64(clamping: answerTook / 2)
            clock = FleetHost.Clock(
                offset: sentAtWall.addingClamped(half)
                    .subtractingClamped(server.multipliedClamped(by: 1000)),
                error: half.addingClamped(1000)
            )
        }
        try cleanUp()
        return FleetRenewal(sentAt: sentAt, open: [], isDrained: row.count > 2 && row[2] == "t")
    }

    package func claim(_ claims: [FleetClaim]) throws(FleetProblem) -> [FleetAnswer] {
        guard let incarnation else { return claims.map { _ in .unknown } }
        let columns = Self.columns(claims)
        let own = try rows(
            FleetSchema.claim,
            columns + [settings.name, "\(incarnation)", "\(schema.version)"]
        )
        let claimed = Set(own.compactMap { $0.first ?? nil })
        var answers = claims.map { claim -> FleetAnswer in
            claimed.contains("\(claim.request)") ? .claimed : .unknown
        }
        guard claimed.count < claims.count else { return answers }
        for row in try rows(FleetSchema.servers, Array(columns.prefix(2)) + [settings.name]) {
            guard row.count == 4, let place = row[0].flatMap({ Int($0) }),
                answers.indices.contains(place - 1), answers[place - 1] != .claimed
            else { continue }
            if let host = row[1] {
                answers[place - 1] = row[2] == "t" ? .served(by: host) : .taken(by: host)
            } else if row[3] == "t" {
                answers[place - 1] = .drained
            }
        }
        return answers
    }

    package func release(_ claims: [FleetClaim], _ release: FleetRelease) throws(FleetProblem) {
        // What has no row any more needs no end.
        _ = try rows(
            release == .served ? FleetSchema.served : FleetSchema.freed,
            Self.columns(claims) + [settings.name]
        )
    }

    /// The tasks, slots and requests of claims, each as an array of PostgreSQL.
    private static func columns(_ claims: [FleetClaim]) -> [String] {
        [
            PostgreSQLSession.array(claims.map(\.task)),
            PostgreSQLSession.array(claims.map { "\($0.slot)" }),
            PostgreSQLSession.array(claims.map { "\($0.request)" }),
        ]
    }

    package func hosts() throws(FleetProblem) -> [FleetHost] {
        let hosts = try rows(FleetSchema.hosts)
        // After the hosts: one that knows of its drain claims no further partition.
        let partitions = hosts.first?.last == "t" ? try partitionsByOwner() : [:]
        return hosts.compactMap { FleetHost(row: $0, partitionsByOwner: partitions) }
    }

    /// How many partitions of requests each host owns.
    private func partitionsByOwner() throws(FleetProblem) -> [String: Int] {
        var counts: [String: Int] = [:]
        for row in try rows(FleetSchema.owners) {
            guard row.count == 2, let name = row[0], let count = row[1].flatMap({ Int($0) }) else {
                continue
            }
            counts[name] = count
        }
        return counts
    }

    package func setDrained(_ isDrained: Bool, host: String) throws(FleetProblem) -> Bool? {
        let row = try rows(FleetSchema.drain, [host, "\(isDrained)"]).first
        guard let was = row?.first else { return nil }
        return (was == "t") != isDrained
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
    private func renewed(
        _ incarnation: Int,
        _ tasks: String
    ) throws(FleetProblem) -> PostgreSQLSession.Row {
        let measured = clock.map { ["\($0.offset / 1000)", "\($0.error / 1000)"] } ?? ["", ""]
        do throws(FleetProblem) {
            return try rows(
                FleetSchema.renewal,
                [settings.name, "\(incarnation)", tasks] + measured
            ).first ?? []
        } catch {
            if error.kind == .statement { session = nil }
            throw error
        }
    }

    private func register(_ tasks: String) throws(FleetProblem) -> FleetRenewal {
        _ = try readySession()
        let sentAt = BootClock.now
        let seconds = Double(settings.leaseNanoseconds) / 1e9
        let row = try rows(
            FleetSchema.registration,
            [settings.name, instance, "\(seconds)", version, "\(hasName)", tasks]
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
            },
            isDrained: row?.last == "t"
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

extension FleetHost {
    /// A row of `FleetSchema.hosts`; `nil` if it is none.
    fileprivate init?(row: PostgreSQLSession.Row, partitionsByOwner: [String: Int]) {
        func number(_ column: Int) -> Int64? { row[column].flatMap { Int64($0) } }
        func nanoseconds(_ column: Int) -> Int64? {
            number(column)?.multipliedClamped(by: 1_000_000)
        }
        guard row.count == 13, let name = row[0], let version = row[1], let left = nanoseconds(2),
            let seen = nanoseconds(3), let claims = number(4)
        else { return nil }
        let drainedAt = nanoseconds(7)
        let partitions = partitionsByOwner[name] ?? 0
        let state: State =
            if left <= 0 {
                row[6] == "t" ? .left : .gone
            } else if drainedAt == nil {
                .live
            } else {
                row[8] == "t" && claims == 0 && partitions == 0 ? .drained : .draining
            }
        var clock: Clock?
        if let offset = number(10), let error = number(11) {
            clock = Clock(
                offset: offset.multipliedClamped(by: 1000),
                error: error.multipliedClamped(by: 1000)
            )
        }
        self.init(
            name: name,
            state: state,
            version: version,
            lease: nanoseconds(5) ?? 0,
            leaseLeft: left,
            seenAt: seen,
            drainedAt: drainedAt,
            claims: Int(claims),
            partitions: partitions,
            tasks: row[9] ?? "",
            clock: clock
        )
    }
}
