// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// Reads the state that a starting daemon restores, and checks that it is complete.
enum Recovery {
    static func read(
        _ connection: Connection,
        expecting expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(SQLiteFailure) -> RecoveredState {
        // A transaction makes one snapshot of all tables.
        try connection.run("BEGIN")
        // Only reads precede this, so ending the snapshot cannot lose anything.
        defer { try? connection.run("COMMIT") }
        var state = RecoveredState(incarnation: try Incarnation.read(connection))
        // The file is read before it is migrated, so that a rejected file stays unchanged.
        let version = Int32(truncatingIfNeeded: try connection.number("PRAGMA user_version"))
        try readRequests(connection, version, &state, expect, each)
        let tasks = try Statement(
            "SELECT \(TaskColumns.names(version: version)) FROM task",
            on: connection
        )
        try tasks.rows { row throws(SQLiteFailure) in
            state.tasks.append(try TaskColumns.read(&row))
            return true
        }
        if version >= 2 { try readRuntime(connection, &state) }
        if version >= 3 { try readNotifications(connection, &state) }
        if version >= 4 { try readQuarantines(connection, &state) }
        if version >= PauseColumns.version { state.pauses = try PauseColumns.read(connection) }
        if version >= AlertColumns.version {
            state.alerts = try AlertColumns.read(connection)
            state.progress = try AlertColumns.readProgress(connection)
        }
        if version >= ManifestColumns.version {
            state.manifest = try ManifestColumns.read(connection)
        }
        if version >= CheckpointColumns.version {
            state.checkpoints = try CheckpointColumns.read(connection)
        }
        let switches = try Statement("SELECT * FROM switched_off", on: connection)
        try switches.rows { row throws(SQLiteFailure) in
            let plugin = row.text()
            state.disabledPlugins[plugin] = row.text()
            try row.checkSum("the plugins")
            return true
        }
        return state
    }

    private static func readRuntime(
        _ connection: Connection,
        _ state: inout RecoveredState
    ) throws(SQLiteFailure) {
        let runtime = try Statement("SELECT * FROM runtime ORDER BY minute", on: connection)
        try runtime.rows { row throws(SQLiteFailure) in
            let (minute, plugin, kind) = (row.int(), row.text(), TaskKind(rawValue: row.text()))
            let nanoseconds = row.int()
            try row.checkSum("the budgets")
            // Skip a kind that only a newer version knows.
            guard let kind else { return true }
            state.runtime.append(
                RuntimeUse(plugin: plugin, kind: kind, minute: minute, nanoseconds: nanoseconds)
            )
            return true
        }
    }

    private static func readQuarantines(
        _ connection: Connection,
        _ state: inout RecoveredState
    ) throws(SQLiteFailure) {
        let rows = try Statement("SELECT * FROM quarantine ORDER BY plugin", on: connection)
        try rows.rows { row throws(SQLiteFailure) in
            state.quarantines.append(
                Quarantine(
                    plugin: row.text(),
                    library: row.text(),
                    host: row.text(),
                    since: row.int(),
                    reason: row.text()
                )
            )
            try row.checkSum("the plugins")
            return true
        }
    }

    private static func readNotifications(
        _ connection: Connection,
        _ state: inout RecoveredState
    ) throws(SQLiteFailure) {
        let notifications = try Statement(
            "SELECT \(NotificationColumns.names) FROM notification ORDER BY key",
            on: connection
        )
        try notifications.rows { row throws(SQLiteFailure) in
            state.notifications.append(try NotificationColumns.read(&row))
            return true
        }
    }

    /// No request uses fewer bytes of the file.
    private static let requestBytesMin: Int64 = 64

    private static func readRequests(
        _ connection: Connection,
        _ version: Int32,
        _ state: inout RecoveredState,
        _ expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(SQLiteFailure) {
        var leases: [RunRecord] = []
        let lease = try Statement(
            "SELECT \(RunColumns.readNames(version: version)) FROM lease ORDER BY request",
            on: connection
        )
        try lease.rows { row throws(SQLiteFailure) in
            leases.append(try RunColumns.read(&row))
            return true
        }
        let expected = try TableSizes(reading: connection)
        // The count may be damaged; the file has no room for more requests than this.
        let pages = try connection.number("PRAGMA page_count")
        let bytes = pages &* (try connection.number("PRAGMA page_size"))
        expect(Int(clamping: max(0, min(expected.places.count, bytes / requestBytesMin))))
        var seen = TableSizes.Places()
        var next = leases[...]
        let request = try Statement(
            """
            SELECT \(RequestColumns.names(version: version)), \(RequestColumns.placeNames)
            FROM request ORDER BY id
            """,
            on: connection
        )
        try request.rows { row throws(SQLiteFailure) in
            let (request, letter) = try RequestColumns.read(&row)
            // Both queries are ordered by the requests' ids.
            if let run = next.first, run.request == request.id {
                next.removeFirst()
                state.interrupted.append((request, run))
                seen.add(PlaceSum.leased(request.id, run: run.id, epoch: run.epoch))
            } else if let letter {
                state.dead.append((request.id, request.task, letter.diedAt))
                seen.add(PlaceSum.dead(request.id))
            } else {
                each(request)
                seen.add(PlaceSum.pending(request.id))
            }
            return true
        }
        state.dead.sort { ($0.diedAt, $0.request) < ($1.diedAt, $1.request) }
        guard next.isEmpty, seen == expected.places else {
            throw .damaged(
                "the journal tells of \(expected.places.count) requests, and the table has"
                    + " \(seen.count) of them or others"
            )
        }
    }
}
