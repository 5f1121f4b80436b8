// SPDX-License-Identifier: Apache-2.0

internal import BghostFleetRules

/// Questions about the requests of all hosts, and cancels: version 3 of the schema.
extension PartitionSchema {
    /// The index of dead letters has no column that changes with each run: such an update would have to write
    /// all indexes.
    ///
    /// The tables are locked in the order in which a batch uses them, so neither waits for the other
    /// for ever.
    static let listing = """
        CREATE TABLE bghost_partitions.cancel (
            request text COLLATE "C" PRIMARY KEY,
            pool smallint NOT NULL,
            number int NOT NULL,
            task text NOT NULL
        );
        CREATE INDEX cancel_partition ON bghost_partitions.cancel (pool, number);
        CREATE INDEX request_dead ON bghost_partitions.request (pool, number, id)
            WHERE letter IS NOT NULL;
        CREATE INDEX inbox_partition ON bghost_partitions.inbox (pool, number, seq);
        """

    /// The owner of the partition of `s`, and whether an operator has cancelled its request.
    private static let ownership = """
        JOIN bghost_partitions.partition p ON p.pool = s.pool AND p.number = s.number
        LEFT JOIN bghost_partitions.host h ON h.host = p.owner
        """
    private static let isCancelled = """
        EXISTS (SELECT FROM bghost_partitions.cancel c WHERE c.request = s.id)::text
        """

    /// $1, $2 and $3 the place after which the page begins, $4 and $5 the last partition, $6 whether $7 is a
    /// whole identifier, $8 the most rows.
    ///
    /// At most `readMax` entries of an index are read, and no request but those of the answer. The row `end` has
    /// the last entry that was read, how many were, and how many of them are wanted.
    static func page(isDead: Bool) -> String {
        """
        WITH seen AS MATERIALIZED (
            SELECT r.pool, r.number, r.id, r.task, r.state FROM bghost_partitions.request r
            WHERE (r.pool, r.number, r.id) > ($1::smallint, $2::int, $3::text COLLATE "C")
                AND (r.pool, r.number) <= ($4::smallint, $5::int)
                \(isDead ? "AND r.letter IS NOT NULL" : "")
            ORDER BY r.pool, r.number, r.id LIMIT \(FleetQuestion.readMax)
        ), picked AS MATERIALIZED (
            SELECT s.pool, s.number, s.id FROM seen s
            WHERE s.state \(isDead ? "=" : "<>") 2
                AND CASE WHEN $6::boolean THEN s.task = $7::text ELSE starts_with(s.task, $7::text) END
            ORDER BY s.pool, s.number, s.id LIMIT $8::int
        ), sized AS (
            SELECT r.pool, r.number, r.id, r.state, r.request, r.run, r.letter,
                sum(octet_length(r.request)) OVER w AS bytes, row_number() OVER w AS place
            FROM picked k
            JOIN bghost_partitions.request r ON r.pool = k.pool AND r.number = k.number AND r.id = k.id
            WINDOW w AS (ORDER BY r.pool, r.number, r.id)
        )
        SELECT 'row', s.pool::text, s.number::text, s.id, s.state::text, s.request, s.run, s.letter, h.name,
            \(isCancelled)
        FROM sized s \(ownership)
        WHERE s.place = 1 OR s.bytes <= \(FleetQuestion.bytesMax)
        UNION ALL
        SELECT 'end', e.pool::text, e.number::text, e.id, (SELECT count(*)::text FROM seen),
            (SELECT count(*)::text FROM picked), NULL, NULL, NULL, NULL
        FROM (SELECT * FROM seen ORDER BY pool DESC, number DESC, id DESC LIMIT 1) e
        """
    }

    /// $1 the number after which the page begins.
    static let letterPage = """
        WITH seen AS MATERIALIZED (
            SELECT i.seq, i.pool, i.number, i.id, i.body FROM bghost_partitions.inbox i
            WHERE i.seq > $1::bigint ORDER BY i.seq LIMIT \(FleetQuestion.lettersReadMax)
        ), sized AS (
            SELECT *, sum(octet_length(body)) OVER w AS bytes, row_number() OVER w AS place FROM seen
            WINDOW w AS (ORDER BY seq)
        )
        SELECT s.seq, s.pool, s.number, s.body, h.name, \(isCancelled), (SELECT count(*) FROM seen)
        FROM sized s \(ownership)
        WHERE s.place = 1 OR s.bytes <= \(FleetQuestion.bytesMax)
        ORDER BY s.seq
        """

    /// $1 the id of a request: one probe of the index for each partition.
    static let request = """
        SELECT 'row', s.pool, s.number, s.id, s.state, s.request, s.run, s.letter, h.name, \(isCancelled)
        FROM bghost_partitions.partition p
        JOIN bghost_partitions.request s ON s.pool = p.pool AND s.number = p.number AND s.id = $1
        LEFT JOIN bghost_partitions.host h ON h.host = p.owner
        """

    /// $1 the id of a submission.
    static let letter = """
        SELECT s.seq, s.pool, s.number, s.body, h.name, \(isCancelled), 1
        FROM bghost_partitions.inbox s \(ownership)
        WHERE s.id = $1
        """

    /// $1 request, $2 and $3 its partition, $4 its task.
    static let cancel = """
        INSERT INTO bghost_partitions.cancel VALUES ($1, $2::smallint, $3::int, $4)
        ON CONFLICT DO NOTHING RETURNING 1
        """

    /// $1 host, $2 the request after which it begins, or "", $3 limit.
    ///
    /// Those whose requests have ended are deleted.
    static let cancels = """
        WITH own AS MATERIALIZED (
            SELECT c.request, c.task,
                EXISTS (SELECT FROM bghost_partitions.request r WHERE r.pool = c.pool
                    AND r.number = c.number AND r.id = c.request AND r.state <> 2)
                OR EXISTS (SELECT FROM bghost_partitions.inbox i WHERE i.id = c.request) AS is_open
            FROM bghost_partitions.cancel c
            JOIN bghost_partitions.partition p ON p.pool = c.pool AND p.number = c.number
            WHERE p.owner = $1::int AND c.request > $2::text COLLATE "C"
            ORDER BY c.request LIMIT $3::int
        ), done AS (
            DELETE FROM bghost_partitions.cancel c USING own o WHERE c.request = o.request AND NOT o.is_open
        )
        SELECT o.request, o.task, o.is_open FROM own o ORDER BY o.request
        """
}
