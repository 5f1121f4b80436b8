// SPDX-License-Identifier: Apache-2.0

internal import BghostFleet

/// The tables of a fleet that owns its requests together, in the schema `bghost_partitions` of its database.
///
/// Locks are taken in one order, so calls of hosts do not deadlock: the row of the fleet, the row of the
/// caller, rows of others. A batch takes only the row of its host, and the rows of requests that no other host
/// changes. So batches of hosts do not wait for each other, and all else is done one after the other.
enum PartitionSchema {
    static let versions = versions([first, letters, listing, moves])

    /// - Parameter steps: what makes each version, or the first ones of them.
    static func versions(_ steps: [String]) -> SchemaVersions {
        SchemaVersions(name: "bghost_partitions", steps: steps, lock: 7_075_616_875)
    }

    /// What makes version 1.
    static var first: String { tables + fences + batches + claims }

    /// The codes of SQL with which the functions refuse a call.
    enum Refusal {
        static let fenced = "BG001"
        static let drift = "BG002"
        static let unknownPartition = "BG003"
        static let registeredMeanwhile = "BG004"
        static let otherPartitions = "BG005"
        /// A row is there already, or another request of the task is pending.
        static let uniqueViolation = "23505"
    }

    /// A row of `host` is written with each batch, and no index has what changes in it.
    private static let tables = """
        CREATE SCHEMA IF NOT EXISTS bghost_partitions;
        CREATE TABLE bghost_partitions.fleet (
            one int PRIMARY KEY CHECK (one = 1),
            version int NOT NULL,
            partitions int
        );
        CREATE TABLE bghost_partitions.host (
            host int PRIMARY KEY,
            name text NOT NULL UNIQUE,
            incarnation int NOT NULL,
            incarnation_nonce bigint NOT NULL,
            connection int NOT NULL,
            connection_nonce bigint NOT NULL,
            batch bigint NOT NULL,
            is_live boolean NOT NULL,
            lease interval NOT NULL,
            lease_until timestamptz NOT NULL,
            slots bigint NOT NULL,
            pools smallint[] NOT NULL
        ) WITH (fillfactor = 10);
        CREATE TABLE bghost_partitions.partition (
            pool smallint NOT NULL,
            number int NOT NULL,
            owner int,
            epoch bigint NOT NULL,
            PRIMARY KEY (pool, number)
        ) WITH (fillfactor = 50);
        CREATE TABLE bghost_partitions.request (
            pool smallint NOT NULL,
            number int NOT NULL,
            id text COLLATE "C" NOT NULL,
            task text NOT NULL,
            state smallint NOT NULL,
            is_first boolean NOT NULL,
            epoch bigint,
            request text NOT NULL,
            run text,
            letter text,
            PRIMARY KEY (pool, number, id)
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
            autovacuum_vacuum_cost_delay = 0);
        CREATE UNIQUE INDEX one_pending ON bghost_partitions.request (task) WHERE is_first;
        CREATE TABLE bghost_partitions.memory (
            pool smallint NOT NULL,
            number int NOT NULL,
            task text COLLATE "C" NOT NULL,
            body text NOT NULL,
            PRIMARY KEY (pool, number, task)
        ) WITH (fillfactor = 50);
        CREATE TABLE bghost_partitions.run (
            id text COLLATE "C" PRIMARY KEY,
            task text NOT NULL,
            request text COLLATE "C" NOT NULL,
            ended_at bigint,
            body text NOT NULL
        );
        CREATE INDEX run_task ON bghost_partitions.run (task, ended_at);
        CREATE TYPE bghost_partitions.change AS (
            pool smallint,
            number int,
            id text,
            before smallint,
            before_epoch bigint,
            state smallint,
            task text,
            is_first boolean,
            epoch bigint,
            request text,
            run text,
            letter text
        );
        INSERT INTO bghost_partitions.fleet VALUES (1, 0, NULL);

        """

    /// What is the same for all calls of a host: $1 host, $2 and $3 registration, $4 and $5 connection.
    private static let own = """
        host = h AND is_live AND incarnation = inc AND incarnation_nonce = inc_nonce
            AND connection = con AND connection_nonce = con_nonce
        """
    private static let fence = """
        h bigint, inc bigint, inc_nonce bigint, con bigint, con_nonce bigint
        """

    private static let fences = """
        CREATE FUNCTION bghost_partitions.found(wanted int, pools smallint[]) RETURNS void
        LANGUAGE plpgsql AS $f$
        DECLARE present int;
        BEGIN
            SELECT f.partitions INTO present FROM bghost_partitions.fleet f FOR UPDATE;
            IF present IS NULL THEN
                UPDATE bghost_partitions.fleet SET partitions = wanted;
            ELSIF present <> wanted THEN
                RAISE '%', present USING ERRCODE = '\(Refusal.otherPartitions)';
            END IF;
            INSERT INTO bghost_partitions.partition
                SELECT p, n, NULL, 0 FROM unnest(pools) p, generate_series(0, wanted - 1) n
                ON CONFLICT DO NOTHING;
        END $f$;
        CREATE FUNCTION bghost_partitions.register(
            host_name text, lease_seconds float8, host_slots bigint, host_pools smallint[],
            last bigint, last_nonce bigint, new_nonce bigint
        ) RETURNS TABLE (number bigint, incarnation bigint) LANGUAGE plpgsql AS $f$
        DECLARE present bghost_partitions.host;
        BEGIN
            PERFORM FROM bghost_partitions.fleet FOR UPDATE;
            SELECT * INTO present FROM bghost_partitions.host h WHERE h.name = host_name FOR UPDATE;
            IF coalesce(present.incarnation, 0) <> last
                OR coalesce(present.incarnation_nonce, 0) <> last_nonce THEN
                RAISE 'registered meanwhile' USING ERRCODE = '\(Refusal.registeredMeanwhile)';
            END IF;
            IF present.host IS NULL THEN
                SELECT coalesce(max(h.host), -1) + 1 INTO present.host FROM bghost_partitions.host h;
            ELSE
                UPDATE bghost_partitions.partition SET owner = NULL WHERE owner = present.host;
            END IF;
            INSERT INTO bghost_partitions.host VALUES (present.host, host_name, last + 1, new_nonce,
                1, new_nonce, 0, true, make_interval(secs => lease_seconds),
                clock_timestamp() + make_interval(secs => lease_seconds), host_slots, host_pools)
            ON CONFLICT (host) DO UPDATE SET incarnation = EXCLUDED.incarnation,
                incarnation_nonce = EXCLUDED.incarnation_nonce, connection = EXCLUDED.connection,
                connection_nonce = EXCLUDED.connection_nonce, batch = 0, is_live = true,
                lease = EXCLUDED.lease, lease_until = EXCLUDED.lease_until,
                slots = EXCLUDED.slots, pools = EXCLUDED.pools;
            RETURN QUERY SELECT present.host::bigint, last + 1;
        END $f$;
        CREATE FUNCTION bghost_partitions.release(\(fence), pools smallint[], numbers int[]) RETURNS void
        LANGUAGE plpgsql AS $f$
        BEGIN
            PERFORM FROM bghost_partitions.fleet FOR UPDATE;
            PERFORM FROM bghost_partitions.host WHERE \(own) FOR UPDATE;
            IF NOT FOUND THEN RAISE 'fenced' USING ERRCODE = '\(Refusal.fenced)'; END IF;
            UPDATE bghost_partitions.partition p SET owner = NULL
            FROM unnest(pools, numbers) x(pool, number)
            WHERE p.pool = x.pool AND p.number = x.number AND p.owner = h;
        END $f$;
        CREATE FUNCTION bghost_partitions.leave(\(fence)) RETURNS void LANGUAGE plpgsql AS $f$
        BEGIN
            PERFORM FROM bghost_partitions.fleet FOR UPDATE;
            UPDATE bghost_partitions.host SET is_live = false WHERE \(own);
            IF NOT FOUND THEN RAISE 'fenced' USING ERRCODE = '\(Refusal.fenced)'; END IF;
            UPDATE bghost_partitions.partition SET owner = NULL WHERE owner = h;
        END $f$;

        """

    private static let key = "r.pool = c.pool AND r.number = c.number AND r.id = c.id"

    /// Rows that leave the state of the task's one pending request are changed before those that enter it, so
    /// that the unique index holds after each statement.
    private static let batches = """
        CREATE FUNCTION bghost_partitions.keep(\(fence), next bigint, changes json) RETURNS bigint
        LANGUAGE plpgsql AS $f$
        DECLARE
            list bghost_partitions.change[];
            wanted bigint;
            kept bigint := 0;
            part bigint;
        BEGIN
            UPDATE bghost_partitions.host
                SET batch = next, lease_until = clock_timestamp() + lease
                WHERE \(own) AND batch + 1 = next;
            IF NOT FOUND THEN RAISE 'fenced' USING ERRCODE = '\(Refusal.fenced)'; END IF;
            SELECT array_agg(c), count(*) FILTER (WHERE before IS NOT NULL OR state IS NOT NULL)
                INTO list, wanted
                FROM json_populate_recordset(NULL::bghost_partitions.change, changes->'rows') c;
            IF EXISTS (SELECT FROM unnest(list) c WHERE NOT EXISTS (
                SELECT FROM bghost_partitions.partition r WHERE r.pool = c.pool AND r.number = c.number
            )) THEN
                RAISE 'unknown partition' USING ERRCODE = '\(Refusal.unknownPartition)';
            END IF;
            DELETE FROM bghost_partitions.request r USING unnest(list) c
                WHERE \(key) AND c.state IS NULL AND r.state = c.before
                    AND r.epoch IS NOT DISTINCT FROM c.before_epoch;
            GET DIAGNOSTICS part = ROW_COUNT;
            kept := kept + part;
            FOR turn IN 0..1 LOOP
                UPDATE bghost_partitions.request r SET state = c.state, task = c.task,
                    is_first = c.is_first, epoch = c.epoch, request = coalesce(c.request, r.request),
                    run = c.run, letter = c.letter
                    FROM unnest(list) c
                    WHERE \(key) AND c.state IS NOT NULL AND r.state = c.before
                        AND r.epoch IS NOT DISTINCT FROM c.before_epoch AND c.is_first = (turn = 1);
                GET DIAGNOSTICS part = ROW_COUNT;
                kept := kept + part;
            END LOOP;
            INSERT INTO bghost_partitions.request (pool, number, id, task, state, is_first, epoch,
                    request, run, letter)
                SELECT c.pool, c.number, c.id, c.task, c.state, c.is_first, c.epoch, c.request, c.run,
                    c.letter
                FROM unnest(list) c
                WHERE c.before IS NULL AND c.state IS NOT NULL AND c.request IS NOT NULL;
            GET DIAGNOSTICS part = ROW_COUNT;
            IF kept + part <> wanted OR EXISTS (
                SELECT FROM unnest(list) c JOIN bghost_partitions.request r ON \(key)
                WHERE c.before IS NULL AND c.state IS NULL
            ) THEN
                RAISE 'drift' USING ERRCODE = '\(Refusal.drift)';
            END IF;
            INSERT INTO bghost_partitions.run
                SELECT * FROM json_populate_recordset(NULL::bghost_partitions.run, changes->'ended');
            DELETE FROM bghost_partitions.memory r
                USING json_populate_recordset(NULL::bghost_partitions.memory, changes->'memories') c
                WHERE r.pool = c.pool AND r.number = c.number AND r.task = c.task
                    AND c.body IS NULL;
            INSERT INTO bghost_partitions.memory
                SELECT * FROM json_populate_recordset(NULL::bghost_partitions.memory, changes->'memories') c
                WHERE c.body IS NOT NULL
                ON CONFLICT (pool, number, task) DO UPDATE SET body = EXCLUDED.body;
            RETURN (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint;
        END $f$;

        """

    /// The share is that of `PartitionShare`.
    private static let claims = """
        CREATE FUNCTION bghost_partitions.claim(
            \(fence), held_pools smallint[], held_numbers int[], may_reap boolean, new_nonce bigint
        ) RETURNS TABLE (kind text, a bigint, b bigint, c bigint) LANGUAGE plpgsql AS $f$
        DECLARE
            me bghost_partitions.host;
            other int;
            place smallint;
            share bigint;
            owned bigint;
            part bigint;
            granted bigint := 0;
        BEGIN
            PERFORM FROM bghost_partitions.fleet FOR UPDATE;
            SELECT * INTO me FROM bghost_partitions.host WHERE \(own) FOR UPDATE;
            IF NOT FOUND THEN RAISE 'fenced' USING ERRCODE = '\(Refusal.fenced)'; END IF;
            IF may_reap THEN
                FOR other IN SELECT o.host FROM bghost_partitions.host o
                    WHERE o.is_live AND o.lease_until < clock_timestamp() AND o.host <> h
                    FOR UPDATE SKIP LOCKED
                LOOP
                    UPDATE bghost_partitions.host SET is_live = false WHERE host = other;
                    UPDATE bghost_partitions.partition SET owner = NULL WHERE owner = other;
                END LOOP;
            END IF;
            FOREACH place IN ARRAY me.pools LOOP
                SELECT CASE WHEN r.slots > 0 THEN ceil(t.count::numeric * me.slots / r.slots) ELSE 0 END
                    INTO share
                    FROM (SELECT count(*) FROM bghost_partitions.partition WHERE pool = place) t,
                        (SELECT sum(o.slots) AS slots FROM bghost_partitions.host o
                            WHERE o.is_live AND place = ANY (o.pools)) r;
                kind := 'share'; a := place; b := share; c := 0;
                RETURN NEXT;
                RETURN QUERY UPDATE bghost_partitions.partition p SET epoch = p.epoch + 1
                    WHERE p.pool = place AND p.owner = h AND NOT EXISTS (
                        SELECT FROM unnest(held_pools, held_numbers) x(pool, number)
                        WHERE x.pool = p.pool AND x.number = p.number
                    )
                    RETURNING 'grant', p.pool::bigint, p.number::bigint, p.epoch;
                GET DIAGNOSTICS part = ROW_COUNT;
                granted := granted + part;
                SELECT count(*) INTO owned FROM bghost_partitions.partition
                    WHERE pool = place AND owner = h;
                RETURN QUERY UPDATE bghost_partitions.partition p SET owner = h, epoch = p.epoch + 1
                    FROM (SELECT q.number FROM bghost_partitions.partition q
                        WHERE q.pool = place AND q.owner IS NULL
                        ORDER BY q.number LIMIT greatest(share - owned, 0)) f
                    WHERE p.pool = place AND p.number = f.number
                    RETURNING 'grant', p.pool::bigint, p.number::bigint, p.epoch;
                GET DIAGNOSTICS part = ROW_COUNT;
                granted := granted + part;
            END LOOP;
            IF granted > 0 THEN
                UPDATE bghost_partitions.host SET connection = con + 1, connection_nonce = new_nonce
                    WHERE host = h;
                kind := 'connection'; a := con + 1; b := new_nonce; c := 0;
                RETURN NEXT;
            END IF;
        END $f$;
        """

    // MARK: Statements

    /// $1 partitions of each pool, $2 pools.
    static let found = "SELECT bghost_partitions.found($1::int, $2::smallint[])"

    /// $1 name.
    static let incarnation = """
        SELECT incarnation, incarnation_nonce FROM bghost_partitions.host WHERE name = $1
        """

    /// $1 name, $2 seconds, $3 slots, $4 pools, $5 and $6 last registration, $7 nonce.
    static let register = """
        SELECT number, incarnation FROM bghost_partitions.register(
            $1, $2::float8, $3::bigint, $4::smallint[], $5::bigint, $6::bigint, $7::bigint)
        """

    /// $1 host, $2 and $3 registration, $4 and $5 connection, $6 unanswered nonces, $7 nonce.
    static let resume = """
        UPDATE bghost_partitions.host SET connection = connection + 1, connection_nonce = $7::bigint,
            lease_until = clock_timestamp() + lease
        WHERE host = $1::bigint AND is_live AND incarnation = $2::bigint
            AND incarnation_nonce = $3::bigint AND (connection = $4::bigint AND connection_nonce = $5::bigint
                OR connection_nonce = ANY ($6::bigint[]))
        RETURNING connection, batch
        """

    private static let fenceArguments = """
        $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint
        """

    /// $6 number of the batch, $7 changes.
    static let keep = "SELECT bghost_partitions.keep(\(fenceArguments), $6::bigint, $7::json)"

    /// $6 and $7 held partitions, $8 whether dead hosts may be declared dead, $9 nonce.
    ///
    /// Grants come last: those beyond the rows that a session reads are granted anew by the next claim.
    static let claim = """
        SELECT kind, a, b, c FROM bghost_partitions.claim(
            \(fenceArguments), $6::smallint[], $7::int[], $8::boolean, $9::bigint)
        ORDER BY kind = 'grant'
        """

    /// $6 slots.
    static let offer = """
        UPDATE bghost_partitions.host SET slots = $6::bigint
        WHERE host = $1::bigint AND is_live AND incarnation = $2::bigint AND incarnation_nonce = $3::bigint
            AND connection = $4::bigint AND connection_nonce = $5::bigint
        RETURNING 1
        """

    /// $6 and $7 partitions.
    static let release = """
        SELECT bghost_partitions.release(\(fenceArguments), $6::smallint[], $7::int[])
        """

    static let leave = "SELECT bghost_partitions.leave(\(fenceArguments))"

    /// $1 pool, $2 number.
    static let partition = """
        SELECT 1 FROM bghost_partitions.partition WHERE pool = $1::smallint AND number = $2::int
        """
}
