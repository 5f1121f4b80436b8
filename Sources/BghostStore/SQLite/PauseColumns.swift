// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The rows of pauses.
enum PauseColumns {
    /// The version of the store that brought the table.
    static let version: Int32 = 8

    static let migration = """
        CREATE TABLE pause (
            scope TEXT NOT NULL,
            name TEXT NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER,
            relative INTEGER NOT NULL,
            user TEXT NOT NULL,
            reason TEXT NOT NULL,
            sum INTEGER NOT NULL,
            PRIMARY KEY (scope, name)
        ) STRICT, WITHOUT ROWID;
        """

    static let names = "scope, name, since, until, relative, user, reason, sum"
    static let count = 8

    static func bind(_ pause: Pause, to row: inout Arguments) {
        row.add(pause.target.scope.rawValue)
        row.add(pause.target.name)
        row.add(pause.since)
        row.add(pause.until)
        row.add(pause.isRelative ? 1 : 0)
        row.add(pause.user)
        row.add(pause.reason)
        row.addSum()
    }

    static func read(_ connection: Connection) throws(SQLiteFailure) -> [Pause] {
        var pauses: [Pause] = []
        let rows = try Statement(
            "SELECT \(names) FROM pause ORDER BY since, scope, name",
            on: connection
        )
        try rows.rows { row throws(SQLiteFailure) in
            row.restartSum()
            let scope = PauseTarget.Scope(rawValue: row.text())
            let name = row.text()
            let since = row.int()
            let until = row.optionalInt()
            let isRelative = row.int() != 0
            let user = row.text()
            let reason = row.text()
            try row.checkSum("the pauses")
            // Skip a scope that only a newer version knows.
            guard let scope else { return true }
            pauses.append(
                Pause(
                    target: PauseTarget(scope, name: name),
                    since: since,
                    until: until,
                    isRelative: isRelative,
                    user: user,
                    reason: reason
                )
            )
            return true
        }
        return pauses
    }
}

extension ChangeWriter {
    /// Stores the pause of a target, or deletes it.
    func keep(_ target: PauseTarget, _ pause: Pause?) throws(SQLiteFailure) {
        if let pause {
            try statements.pause.run { PauseColumns.bind(pause, to: &$0) }
        } else {
            try statements.resume.run { row in
                row.add(target.scope.rawValue)
                row.add(target.name)
            }
        }
        countChange()
    }
}
