// SPDX-License-Identifier: Apache-2.0

internal import BghostCore

/// Reads all that a daemon takes over, and checks that it is all there.
enum Recovery {
    static func read(
        _ connection: Connection,
        _ each: (Request) -> Void
    ) throws(SQLiteFailure) -> RecoveredState {
        // One snapshot for all tables.
        try connection.run("BEGIN")
        defer { try? connection.run("COMMIT") }
        var state = RecoveredState(
            incarnation: UInt32(
                truncatingIfNeeded: try connection.number("SELECT incarnation FROM meta")
            )
        )
        try readRequests(connection, &state, each)
        let tasks = try Statement("SELECT \(TaskColumns.names) FROM task", on: connection.handle)
        try tasks.rows { row throws(SQLiteFailure) in
            state.tasks.append(try TaskColumns.read(&row))
            return true
        }
        let switches = try Statement("SELECT * FROM switched_off", on: connection.handle)
        try switches.rows { row throws(SQLiteFailure) in
            let plugin = row.text()
            state.switchedOff[plugin] = row.text()
            try row.checkSum("the plugins")
            return true
        }
        return state
    }

    private static func readRequests(
        _ connection: Connection,
        _ state: inout RecoveredState,
        _ each: (Request) -> Void
    ) throws(SQLiteFailure) {
        var leases: [RunRecord] = []
        let lease = try Statement(
            "SELECT \(RunColumns.names) FROM lease ORDER BY request",
            on: connection.handle
        )
        try lease.rows { row throws(SQLiteFailure) in
            leases.append(try RunColumns.read(&row))
            return true
        }
        let expected = try Tally(reading: connection.handle)
        var seen = Tally.Places()
        var next = leases[...]
        let request = try Statement(
            "SELECT \(RequestColumns.names), \(RequestColumns.placeNames) FROM request ORDER BY id",
            on: connection.handle
        )
        try request.rows { row throws(SQLiteFailure) in
            let (request, letter) = try RequestColumns.read(&row)
            // Both come in the order of the requests' ids.
            if let run = next.first, run.request == request.id {
                next.removeFirst()
                state.interrupted.append((request, run))
                seen.add(PlaceSum.leased(request.id, run: run.id, epoch: run.epoch))
            } else if letter != nil {
                seen.add(PlaceSum.dead(request.id))
            } else {
                each(request)
                seen.add(PlaceSum.pending(request.id))
            }
            return true
        }
        guard next.isEmpty, seen == expected.places else {
            throw .damaged(
                "the journal tells of \(expected.places.count) requests, and the table has"
                    + " \(seen.count) of them or others"
            )
        }
    }
}
