// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Answers questions for pages of dead letters, on the read-only connection.
///
/// A page walks the index of dead letters from the place where the page before it ended.
final class DeadLetterReader {
    private let walk: Statement
    private let damaged: DamagedRows

    init(_ connection: Connection, _ damaged: DamagedRows) throws(SQLiteFailure) {
        self.damaged = damaged
        walk = try Statement(
            """
            SELECT task, died_at, dead_run, \(RequestColumns.names), \(RequestColumns.placeNames)
            FROM request INDEXED BY request_dead
            WHERE died_at IS NOT NULL AND (died_at, dead_run) < (?, ?) AND died_at >= ?
            ORDER BY died_at DESC, dead_run DESC
            """,
            on: connection
        )
    }

    /// - Parameter places: requests that changes have moved that are not committed; they are left out.
    func page(
        _ query: DeadLetterQuery,
        except places: [RunID: StoredPlace]
    ) throws(SQLiteFailure) -> DeadLetterPage {
        var page = DeadLetterPage()
        guard query.limit > 0 else { return page }
        let start = query.start
        var read = 0
        try walk.rows({ row in
            row.add(start.diedAt)
            row.add(start.run)
            row.add(query.since ?? .min)
        }) { row throws(SQLiteFailure) in
            read += 1
            let task = row.text()
            let isWanted = query.matches(task: task)
            let place = DeadLetterQuery.Place(diedAt: row.int(), run: try row.id())
            if isWanted {
                row.restartSum()
                let letter = try damaged.skipping("a dead request of \(task)") {
                    () throws(SQLiteFailure) in try RequestColumns.read(&row).dead
                }
                if let letter, places[letter.request.id] == nil { page.letters.append(letter) }
            }
            guard page.letters.count < query.limit, read < DeadLetterQuery.readMax else {
                page.next = place
                return false
            }
            return true
        }
        return page
    }
}
