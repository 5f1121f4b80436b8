// SPDX-License-Identifier: Apache-2.0

/// The tables of a fleet, in the schema `bghost` of its database.
///
/// Each decision about a start is a change of its one row, and a statement makes many of them. It locks rows that
/// its host has or takes over, and no other one, so statements hardly wait for each other's transactions; a host
/// that stops between two of them holds no lock.
enum FleetSchema {
    /// What makes each version of the schema from the one before; the first one makes it from nothing.
    ///
    /// Released ones never change (`SchemaVersions`).
    static let migrations = [
        """
        CREATE SCHEMA IF NOT EXISTS bghost;
        CREATE TABLE bghost.fleet (
            one int PRIMARY KEY CHECK (one = 1),
            version int NOT NULL
        );
        CREATE TABLE bghost.host (
            name text PRIMARY KEY,
            instance text NOT NULL,
            incarnation int NOT NULL,
            lease interval NOT NULL,
            lease_until timestamptz NOT NULL,
            seen_at timestamptz NOT NULL,
            version text NOT NULL
        ) WITH (fillfactor = 10);
        CREATE TABLE bghost.start (
            task text NOT NULL,
            slot bigint NOT NULL,
            host text NOT NULL,
            instance text NOT NULL,
            incarnation int NOT NULL,
            request text NOT NULL,
            lease_until timestamptz NOT NULL,
            claimed_at timestamptz NOT NULL,
            ended_at timestamptz,
            PRIMARY KEY (task, slot)
        ) WITH (fillfactor = 50);
        CREATE INDEX start_open ON bghost.start (host) WHERE ended_at IS NULL;
        CREATE INDEX start_ended ON bghost.start (ended_at) WHERE ended_at IS NOT NULL;
        INSERT INTO bghost.fleet VALUES (1, 0);
        """,
        """
        ALTER TABLE bghost.host
            ADD COLUMN drained_at timestamptz,
            ADD COLUMN knows_drain boolean NOT NULL DEFAULT false,
            ADD COLUMN tasks text,
            ADD COLUMN clock_offset bigint,
            ADD COLUMN clock_error bigint;
        """,
    ]

    /// The number of the advisory lock of this schema.
    static let lock = 7_075_616_874

    /// The schema with these versions; tests have further ones.
    static func versions(_ migrations: [String]) -> SchemaVersions {
        SchemaVersions(name: "bghost", steps: migrations, lock: lock)
    }

    /// Registers a host, unless another daemon has its name and a valid lease.
    ///
    /// $1 name, $2 instance, $3 lease in seconds, $4 version of bghost, $5 whether the lease of an earlier
    /// daemon of the same instance may be taken over, $6 fingerprint of its tasks. It answers the number of the
    /// registration and whether the host is drained.
    static let registration = """
        INSERT INTO bghost.host AS h
            (name, instance, incarnation, lease, lease_until, seen_at, version, tasks)
        VALUES ($1, $2, 1, make_interval(secs => $3::float8),
            clock_timestamp() + make_interval(secs => $3::float8), clock_timestamp(), $4, $6)
        ON CONFLICT (name) DO UPDATE SET instance = EXCLUDED.instance,
            incarnation = h.incarnation + 1, lease = EXCLUDED.lease,
            lease_until = EXCLUDED.lease_until, seen_at = EXCLUDED.seen_at,
            version = EXCLUDED.version, tasks = EXCLUDED.tasks,
            knows_drain = h.drained_at IS NOT NULL, clock_offset = NULL, clock_error = NULL
        WHERE h.lease_until < clock_timestamp() OR (h.instance = EXCLUDED.instance AND $5::bool)
        RETURNING incarnation, drained_at IS NOT NULL
        """

    /// $1 name, $2 instance.
    static let openClaims = """
        SELECT task, slot, request FROM bghost.start
        WHERE host = $1 AND instance = $2 AND ended_at IS NULL ORDER BY task, slot
        """

    /// Locks starts in the order in which claims take them, so that statements of hosts do not deadlock.
    private static let locked = """
        ORDER BY o.task COLLATE "C", o.slot FOR UPDATE OF o
        """

    /// The claims of the host `me`.
    private static let open = """
        (SELECT o.task, o.slot FROM bghost.start o, me
            WHERE o.host = me.name AND o.incarnation = me.incarnation AND o.ended_at IS NULL
            \(locked))
        """

    /// Renews the lease of a host and of its claims; answers 1 unless another daemon has registered, the
    /// version of the schema, whether the host is drained and the clock of the server, Unix microseconds.
    ///
    /// A host sends its claims and renewals one after the other, so after a renewal that knows of a drain it
    /// has no claim under way that does not.
    ///
    /// $1 name, $2 incarnation, $3 fingerprint of its tasks, $4 offset of its clock and $5 the error of that,
    /// microseconds, both "" if it has not measured them.
    static let renewal = """
        WITH me AS (
            UPDATE bghost.host SET lease_until = clock_timestamp() + lease,
                seen_at = clock_timestamp(), tasks = $3, knows_drain = drained_at IS NOT NULL,
                clock_offset = nullif($4, '')::bigint, clock_error = nullif($5, '')::bigint
            WHERE name = $1 AND incarnation = $2::int
            RETURNING name, incarnation, lease, drained_at IS NOT NULL AS drained
        ), mine AS (
            UPDATE bghost.start s SET lease_until = clock_timestamp() + me.lease FROM me, \(open) l
            WHERE s.task = l.task AND s.slot = l.slot
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM me), (SELECT version FROM bghost.fleet),
            (SELECT drained FROM me),
            floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
            (SELECT count(*) FROM mine)
        """

    /// The claims of a call: a row for each.
    ///
    /// $1 tasks, $2 slots and $3 requests, each an array.
    private static let wanted = """
        unnest($1::text[], $2::bigint[], $3::text[]) AS w (task, slot, request)
        """

    /// Claims starts; answers the requests of those that this host has.
    ///
    /// A host of another version of the schema gets none, and a drained one only what it has. A start that
    /// another host has is left alone: an update would lock its row, even if it changed nothing. All hosts take
    /// starts in the same order, so that they do not deadlock.
    ///
    /// $1 tasks, $2 slots, $3 requests, $4 name, $5 incarnation, $6 version of the schema.
    static let claim = """
        INSERT INTO bghost.start AS s
            (task, slot, host, instance, incarnation, request, lease_until, claimed_at)
        SELECT w.task, w.slot, h.name, h.instance, h.incarnation, w.request,
            clock_timestamp() + h.lease, clock_timestamp()
        FROM bghost.host h, bghost.fleet f, \(wanted)
        WHERE h.name = $4 AND h.incarnation = $5::int AND f.version = $6::int
            AND (h.drained_at IS NULL OR EXISTS (
                SELECT FROM bghost.start o
                WHERE o.task = w.task AND o.slot = w.slot AND o.host = h.name
                    AND o.instance = h.instance AND (o.ended_at IS NULL OR o.request = w.request)))
            AND NOT EXISTS (
                SELECT FROM bghost.start o WHERE o.task = w.task AND o.slot = w.slot
                    AND (o.ended_at IS NOT NULL OR o.lease_until >= clock_timestamp())
                    AND (o.host <> h.name OR o.instance <> h.instance
                        OR o.ended_at IS NOT NULL AND o.request <> w.request))
        ORDER BY w.task COLLATE "C", w.slot
        ON CONFLICT (task, slot) DO UPDATE SET host = EXCLUDED.host,
            instance = EXCLUDED.instance, incarnation = EXCLUDED.incarnation,
            request = EXCLUDED.request, lease_until = EXCLUDED.lease_until,
            claimed_at = EXCLUDED.claimed_at, ended_at = NULL
        WHERE s.ended_at IS NULL AND s.lease_until < clock_timestamp()
            OR s.host = EXCLUDED.host AND s.instance = EXCLUDED.instance
                AND (s.ended_at IS NULL OR s.request = EXCLUDED.request)
        RETURNING request
        """

    /// For each start its place in the list, the host that has it, whether that one has served it, and whether
    /// the host that asks is drained.
    ///
    /// $1 tasks, $2 slots, $3 name of the host that asks.
    static let servers = """
        SELECT w.place, s.host, s.ended_at IS NOT NULL, h.drained_at IS NOT NULL
        FROM bghost.host h
            CROSS JOIN unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS w (task, slot, place)
            LEFT JOIN bghost.start s ON s.task = w.task AND s.slot = w.slot
        WHERE h.name = $3
        """

    private static let own = """
        (SELECT o.task, o.slot FROM bghost.start o, \(wanted)
            WHERE o.task = w.task AND o.slot = w.slot AND o.request = w.request AND o.host = $4
                AND o.ended_at IS NULL
            \(locked)) l
        WHERE s.task = l.task AND s.slot = l.slot
        """

    /// $1 tasks, $2 slots, $3 requests, $4 name.
    static let served = """
        UPDATE bghost.start s SET ended_at = clock_timestamp() FROM \(own)
        """
    static let freed = "DELETE FROM bghost.start s USING \(own)"

    /// Ends the lease of a host and of its claims.
    ///
    /// $1 name, $2 incarnation.
    static let leaving = """
        WITH me AS (
            UPDATE bghost.host SET lease_until = clock_timestamp()
            WHERE name = $1 AND incarnation = $2::int RETURNING name, incarnation
        )
        UPDATE bghost.start s SET lease_until = clock_timestamp() FROM \(open) l
        WHERE s.task = l.task AND s.slot = l.slot
        """

    /// The hosts, with whether this user can read who owns the partitions of requests.
    static let hosts = """
        SELECT h.name, h.version,
            floor(extract(epoch FROM h.lease_until - clock_timestamp()) * 1000)::bigint,
            floor(extract(epoch FROM h.seen_at) * 1000)::bigint,
            (SELECT count(*) FROM bghost.start s WHERE s.host = h.name AND s.ended_at IS NULL),
            floor(extract(epoch FROM h.lease) * 1000)::bigint,
            h.lease_until < h.seen_at + h.lease / 2,
            floor(extract(epoch FROM h.drained_at) * 1000)::bigint,
            h.knows_drain, coalesce(h.tasks, ''), h.clock_offset, h.clock_error,
            (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'bghost_partitions' AND c.relname IN ('host', 'partition')
                    AND has_schema_privilege(n.oid, 'USAGE')
                    AND has_table_privilege(c.oid, 'SELECT')) = 2
        FROM bghost.host h ORDER BY h.name COLLATE "C" LIMIT 1000
        """

    /// The owners of partitions, and how many each of them owns.
    static let owners = """
        SELECT h.name, count(*) FROM bghost_partitions.partition p
            JOIN bghost_partitions.host h ON h.host = p.owner
        GROUP BY h.name
        """

    /// Drains a host or ends that; answers whether it was drained, and nothing if there is no such host.
    ///
    /// $1 name, $2 whether it is drained from now on.
    static let drain = """
        UPDATE bghost.host h SET
            drained_at = CASE WHEN $2::bool THEN coalesce(h.drained_at, clock_timestamp()) END,
            knows_drain = h.knows_drain AND $2::bool
        FROM (SELECT name, drained_at IS NOT NULL AS was FROM bghost.host WHERE name = $1 FOR UPDATE) old
        WHERE h.name = old.name RETURNING old.was
        """

    /// Deletes what ended 30 days ago.
    static let cleanup = """
        WITH old AS (
            DELETE FROM bghost.start WHERE ended_at < clock_timestamp() - interval '30 days'
                OR ended_at IS NULL AND lease_until < clock_timestamp() - interval '30 days'
        )
        DELETE FROM bghost.host WHERE lease_until < clock_timestamp() - interval '30 days'
        """
}
