// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// Connects to a fleet's database, and brings a schema of it to the version that this bghost knows.
///
/// Use it on one thread; a connection takes as long as the time limit of a call at most, but for the look-up
/// of the server's name.
package struct PostgreSQLConnector {
    /// How long a migration may take, nanoseconds.
    ///
    /// It may have to read all rows, and the time limit of a call follows from the lease: one that never ends in
    /// time would be tried for ever.
    private static let migrationTimeout: UInt64 = 600_000_000_000

    /// A connection string of libpq.
    private let connection: String
    private let schema: SchemaVersions
    private let libraryName: String
    private var library: LibPQ?

    /// - Parameter library: the name or the path of libpq.
    package init(connection: String, schema: SchemaVersions, library: String? = nil) {
        self.connection = connection
        self.schema = schema
        libraryName = library ?? LibPQ.soname
    }

    /// A session of a server that can be written to and has this version's schema.
    ///
    /// - Parameter timeout: the time limit of each of its calls, nanoseconds.
    package mutating func connect(timeout: UInt64) throws(FleetProblem) -> PostgreSQLSession {
        if library == nil { library = try LibPQ.load(libraryName) }
        guard let library else { throw FleetProblem(.library, "libpq is not loaded") }
        let session = try PostgreSQLSession(library, connection, timeout: timeout)
        let greeting = try session.rows(schema.greeting, ["\(timeout / 1_000_000)"]).first
        guard let greeting, greeting.count == 5 else {
            throw FleetProblem(.statement, "the server's first answer is none of PostgreSQL's")
        }
        guard greeting[4] != "t" else {
            throw FleetProblem(
                .readOnly,
                "the server cannot be written to (a standby, or read-only); name its primary, with"
                    + " several hosts also `target_session_attrs=read-write`"
            )
        }
        var present = greeting[3] == "t" ? try version(session) : "0"
        if let number = present.flatMap({ Int($0) }), number < schema.version {
            let (call, whole) = (timeout / 1_000_000, Self.migrationTimeout / 1_000_000)
            // It waits for no lock for longer than for any other answer: hosts of the earlier version work on.
            try session.limit(statement: whole, lock: call)
            try session.run(schema.migration, timeout: Self.migrationTimeout)
            try session.limit(statement: call, lock: 0)
            present = try version(session)
        }
        guard present == "\(schema.version)" else { throw schema.otherVersion(present) }
        return session
    }

    private func version(_ session: PostgreSQLSession) throws(FleetProblem) -> String? {
        try session.rows(schema.question).first?.first ?? nil
    }
}
