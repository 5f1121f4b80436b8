// SPDX-License-Identifier: Apache-2.0

internal import BghostFleetRules

/// Submissions on their way to the owners of their partitions: version 2 of the schema.
extension PartitionSchema {
    /// `keep` of version 1 stays as `keep_rows`, without its rights changed; the new one adds what a batch takes.
    ///
    /// The fence is the first statement of `keep_rows`, so it is still the first one of a batch.
    static let letters = """
        CREATE TABLE bghost_partitions.inbox (
            seq bigserial PRIMARY KEY,
            pool smallint NOT NULL,
            number int NOT NULL,
            id text COLLATE "C" NOT NULL UNIQUE,
            body text NOT NULL
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
            autovacuum_vacuum_cost_delay = 0);
        CREATE INDEX run_ended ON bghost_partitions.run (ended_at);
        CREATE FUNCTION bghost_partitions.post(letters json) RETURNS void LANGUAGE plpgsql AS $f$
        BEGIN
            IF EXISTS (SELECT FROM json_populate_recordset(NULL::bghost_partitions.inbox, letters) c
                WHERE NOT EXISTS (SELECT FROM bghost_partitions.partition p
                    WHERE p.pool = c.pool AND p.number = c.number)) THEN
                RAISE 'unknown partition' USING ERRCODE = '\(Refusal.unknownPartition)';
            END IF;
            INSERT INTO bghost_partitions.inbox (pool, number, id, body)
                SELECT c.pool, c.number, c.id, c.body
                FROM json_populate_recordset(NULL::bghost_partitions.inbox, letters) c
                ON CONFLICT (id) DO NOTHING;
        END $f$;
        ALTER FUNCTION bghost_partitions.keep(bigint, bigint, bigint, bigint, bigint, bigint, json)
            RENAME TO keep_rows;
        CREATE FUNCTION bghost_partitions.keep(h bigint, inc bigint, inc_nonce bigint, con bigint,
            con_nonce bigint, next bigint, changes json) RETURNS bigint LANGUAGE plpgsql AS $f$
        DECLARE
            kept_at bigint;
            part bigint;
        BEGIN
            kept_at := bghost_partitions.keep_rows(h, inc, inc_nonce, con, con_nonce, next, changes);
            DELETE FROM bghost_partitions.inbox r
                USING json_populate_recordset(NULL::bghost_partitions.inbox, changes->'taken') c
                WHERE r.id = c.id AND r.pool = c.pool AND r.number = c.number;
            GET DIAGNOSTICS part = ROW_COUNT;
            IF part <> json_array_length(coalesce(changes->'taken', '[]')) THEN
                RAISE 'drift' USING ERRCODE = '\(Refusal.drift)';
            END IF;
            RETURN kept_at;
        END $f$;
        """

    /// $1 letters.
    static let post = "SELECT bghost_partitions.post($1::json)"

    /// $1 host, $2 the number after which it begins, $3 limit.
    ///
    /// It reads what waits for the host, and not what waits for others, whose owner may be gone for long; of each
    /// of its partitions the entries of an index, and the submissions of the answer only. The last column is the
    /// number of those that were found; the answer ends before it when their bytes do not fit.
    static let waitingLetters = """
        SELECT s.id, s.seq, s.body, s.read FROM (SELECT b.id, b.seq, b.body, count(*) OVER () AS read,
            row_number() OVER w AS place, sum(octet_length(b.body)) OVER w AS bytes FROM (
            SELECT l.seq FROM bghost_partitions.partition p CROSS JOIN LATERAL (
                SELECT r.seq FROM bghost_partitions.inbox r
                WHERE r.pool = p.pool AND r.number = p.number AND r.seq > $2::bigint
                ORDER BY r.seq LIMIT $3::int
            ) l WHERE p.owner = $1::int ORDER BY l.seq LIMIT $3::int
        ) i JOIN bghost_partitions.inbox b ON b.seq = i.seq WINDOW w AS (ORDER BY b.seq)) s
        WHERE s.place = 1 OR s.bytes <= \(FleetCall.bytesMax) ORDER BY s.seq
        """

    /// What hosts have moved from their own stores: version 4 of the schema.
    ///
    /// A request stays there when its owner has ended it: the host that moved it may not know yet that it did.
    static let moves = """
        CREATE TABLE bghost_partitions.moved (
            id text COLLATE "C" PRIMARY KEY,
            moved_at bigint NOT NULL
        );
        """

    /// $1 letters; posts those of them that were not moved before.
    static let move = """
        WITH sent AS MATERIALIZED (
            SELECT e AS letter, e->>'id' AS id, place
            FROM json_array_elements($1::json) WITH ORDINALITY AS x(e, place)
        ), new AS (
            INSERT INTO bghost_partitions.moved
                SELECT DISTINCT id, (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint FROM sent
                ON CONFLICT DO NOTHING RETURNING id
        )
        SELECT bghost_partitions.post(coalesce(json_agg(s.letter ORDER BY s.place), '[]'::json))
        FROM sent s JOIN new n ON n.id = s.id
        """

    /// The most runs that one statement deletes.
    static let forgottenMax = 10_000

    /// Deletes some runs that ended before $1, Unix nanoseconds, and what was moved before that; answers the
    /// number of runs.
    static let forget = """
        WITH old AS (DELETE FROM bghost_partitions.moved WHERE moved_at < $1::bigint),
        gone AS (
            DELETE FROM bghost_partitions.run WHERE id IN (
                SELECT id FROM bghost_partitions.run WHERE ended_at < $1::bigint
                ORDER BY ended_at LIMIT \(forgottenMax))
            RETURNING 1
        )
        SELECT count(*) FROM gone
        """

    static let owners = """
        SELECT p.pool, p.number, h.name FROM bghost_partitions.partition p
        JOIN bghost_partitions.host h ON h.host = p.owner
        """
}
