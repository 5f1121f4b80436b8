// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The versions of a schema in a fleet's database.
///
/// Its table `fleet` has one row, whose column `version` is the number of the last version that was made.
package struct SchemaVersions: Sendable {
    private let name: String
    /// What makes each version of the schema from the one before; the first one makes it from nothing.
    private let steps: [String]
    /// The number of the advisory lock that hosts of all versions hold while they change the schema.
    private let lock: Int

    /// - Parameters:
    ///   - steps: released ones never change. Each is statements of PL/pgSQL. All of them must end within ten
    ///     minutes, and what they lock stops all hosts for that long.
    ///   - lock: another number for each schema.
    package init(name: String, steps: [String], lock: Int) {
        self.name = name
        self.steps = steps
        self.lock = lock
    }

    /// The version that this bghost knows.
    package var version: Int { steps.count }

    /// Brings the schema to the last version, as one statement and one transaction; does nothing to a schema of
    /// that version or a newer one.
    ///
    /// The version is read under the lock: of hosts that start together one migrates, and an older bghost does
    /// not change what a newer one made while it waited. `to_regclass` would not do: it may answer from what the
    /// session remembers of the time before the lock.
    var migration: String {
        let steps = steps.enumerated().map { index, step in
            "IF present < \(index + 1) THEN\n\(step)\nEND IF;"
        }.joined(separator: "\n")
        return """
            DO $bghost$
            DECLARE present int := 0;
            BEGIN
                PERFORM pg_advisory_xact_lock(\(lock));
                IF EXISTS (SELECT FROM pg_tables WHERE schemaname = '\(name)' AND tablename = 'fleet') THEN
                    SELECT f.version INTO present FROM \(name).fleet f;
                END IF;
            \(steps)
                IF present < \(version) THEN
                    UPDATE \(name).fleet SET version = \(version);
                END IF;
            END $bghost$
            """
    }

    /// Settings of a session; answers whether the schema is there and whether the server can be written to.
    ///
    /// $1: the time limit of a statement, milliseconds.
    var greeting: String {
        """
        SELECT set_config('search_path', 'pg_catalog', false),
            set_config('client_min_messages', 'warning', false),
            set_config('statement_timeout', $1, false),
            to_regclass('\(name).fleet') IS NOT NULL,
            pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'
        """
    }

    var question: String { "SELECT version FROM \(name).fleet" }

    /// Why this bghost cannot use a schema of another version.
    ///
    /// - Parameter present: the version in the database; `nil` if there is none.
    func otherVersion(_ present: String?) -> FleetProblem {
        guard let present, let number = Int(present) else {
            return FleetProblem(
                .version,
                "schema `\(name)` of the database has no version, although it has tables; restore it"
                    + " from a backup, or drop it while all hosts are stopped"
            )
        }
        return FleetProblem(
            .version,
            number > version
                ? "schema `\(name)` of the database has version \(number), which a newer bghost on"
                    + " another host made, and this bghost knows only \(version); update bghost on this"
                    + " host"
                : "schema `\(name)` of the database has version \(number) again, since the database was set"
                    + " back; this bghost migrates it to \(version) when it connects again"
        )
    }
}
