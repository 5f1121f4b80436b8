// SPDX-License-Identifier: Apache-2.0

internal import BghostFleetRules

/// The contents of partitions, in parts that a slow link brings within a call.
///
/// The last column of each row is the number of rows that were read; the answer ends before it when the bytes
/// do not fit.
extension PartitionSchema {
    /// $1 pool, $2 number, $3 the id after which the page begins, $4 its length.
    static let requests = """
        SELECT s.id, s.state, s.request, s.run, s.letter, s.task, s.read FROM (
            SELECT r.*, count(*) OVER () AS read, row_number() OVER w AS place,
                sum(octet_length(r.request) + coalesce(octet_length(r.run), 0)
                    + coalesce(octet_length(r.letter), 0)) OVER w AS bytes
            FROM (
                SELECT * FROM bghost_partitions.request
                WHERE pool = $1::smallint AND number = $2::int AND id > $3 COLLATE "C"
                ORDER BY id LIMIT $4::int
            ) r WINDOW w AS (ORDER BY r.id)
        ) s WHERE s.place = 1 OR s.bytes <= \(FleetCall.bytesMax) ORDER BY s.id
        """

    /// $1 pool, $2 number, $3 the task after which the page begins, $4 its length.
    static let memories = """
        SELECT s.task, s.body, s.read FROM (
            SELECT m.*, count(*) OVER () AS read, row_number() OVER w AS place,
                sum(octet_length(m.body)) OVER w AS bytes
            FROM (
                SELECT * FROM bghost_partitions.memory
                WHERE pool = $1::smallint AND number = $2::int AND task > $3 COLLATE "C"
                ORDER BY task LIMIT $4::int
            ) m WINDOW w AS (ORDER BY m.task)
        ) s WHERE s.place = 1 OR s.bytes <= \(FleetCall.bytesMax) ORDER BY s.task
        """
}
