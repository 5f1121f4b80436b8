// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The rows of alerts, and of what tasks did lately.
enum AlertColumns {
    /// The version of the store that brought the tables.
    static let version: Int32 = 10

    static let migration = """
        CREATE TABLE alert (
            rule TEXT NOT NULL,
            subject TEXT NOT NULL,
            since INTEGER NOT NULL,
            detail TEXT NOT NULL,
            told_at INTEGER,
            ended_at INTEGER,
            sum INTEGER NOT NULL,
            PRIMARY KEY (rule, subject)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE progress (
            task TEXT PRIMARY KEY NOT NULL,
            since INTEGER NOT NULL,
            last_success INTEGER,
            failures INTEGER NOT NULL,
            sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    static let names = "rule, subject, since, detail, told_at, ended_at, sum"
    static let count = 7
    static let progressNames = "task, since, last_success, failures, sum"
    static let progressCount = 5

    static func bind(_ alert: AlertRow, to row: inout Arguments) {
        row.add(alert.key.rule.rawValue)
        row.add(alert.key.subject)
        row.add(alert.since)
        row.add(alert.detail)
        row.add(alert.toldAt)
        row.add(alert.endedAt)
        row.addSum()
    }

    static func bind(_ progress: TaskProgress, to row: inout Arguments) {
        row.add(progress.task)
        row.add(progress.since)
        row.add(progress.lastSuccess)
        row.add(progress.failures)
        row.addSum()
    }

    static func read(_ connection: Connection) throws(SQLiteFailure) -> [AlertRow] {
        var alerts: [AlertRow] = []
        let rows = try Statement(
            "SELECT \(names) FROM alert ORDER BY since, rule, subject",
            on: connection
        )
        try rows.rows { row throws(SQLiteFailure) in
            row.restartSum()
            let rule = AlertRule(rawValue: row.text())
            let subject = row.text()
            let since = row.int()
            let detail = row.text()
            let toldAt = row.optionalInt()
            let endedAt = row.optionalInt()
            try row.checkSum("the alerts")
            // Skip a rule that only a newer version knows.
            guard let rule else { return true }
            alerts.append(
                AlertRow(
                    key: AlertKey(rule, subject),
                    since: since,
                    detail: detail,
                    toldAt: toldAt,
                    endedAt: endedAt
                )
            )
            return true
        }
        return alerts
    }

    static func readProgress(_ connection: Connection) throws(SQLiteFailure) -> [TaskProgress] {
        var progress: [TaskProgress] = []
        let rows = try Statement(
            "SELECT \(progressNames) FROM progress ORDER BY task",
            on: connection
        )
        try rows.rows { row throws(SQLiteFailure) in
            row.restartSum()
            let task = row.text()
            let since = row.int()
            let lastSuccess = row.optionalInt()
            let failures = Int(clamping: row.int())
            try row.checkSum("what is watched of tasks")
            progress.append(
                TaskProgress(
                    task: task,
                    since: since,
                    lastSuccess: lastSuccess,
                    failures: failures
                )
            )
            return true
        }
        return progress
    }
}

extension ChangeWriter {
    /// Stores a change of the alerts.
    func keep(_ change: AlertChange) throws(SQLiteFailure) {
        switch change {
        case .kept(let alert): try statements.alert.run { AlertColumns.bind(alert, to: &$0) }
        case .removed(let key):
            try statements.removeAlert.run { row in
                row.add(key.rule.rawValue)
                row.add(key.subject)
            }
        case .progress(let progress):
            try statements.progress.run { AlertColumns.bind(progress, to: &$0) }
        case .unwatched(let task): try statements.removeProgress.run { $0.add(task) }
        }
        countChange()
    }
}
