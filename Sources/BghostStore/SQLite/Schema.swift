// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The tables of the store, and how older ones become them.
enum Schema {
    /// In the header of the file: the letters `bghs`.
    static let applicationID: Int32 = 0x6267_6873
    /// The number of the last migration, `user_version` in the header of the file.
    ///
    /// A file with a higher one is refused.
    static let version: Int32 = 5

    static func migrate(_ queue: DatabaseQueue) throws {
        var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        migrator.registerMigration("1") { try $0.execute(sql: Self.first) }
        migrator.registerMigration("2") { try $0.execute(sql: Self.second) }
        migrator.registerMigration("3") { try $0.execute(sql: Self.third) }
        migrator.registerMigration("4") { try $0.execute(sql: Self.fourth) }
        migrator.registerMigration("5") { try $0.execute(sql: Self.fifth) }
        try migrator.migrate(queue)
    }

    /// A request's row stays in place while it is leased: that it is leased, and what its run is,
    /// says the small table `lease`, which is thus as long as there are runs under way.
    ///
    /// `request` and `lease` are kept in the order of their ids, which is the order in which they
    /// were submitted: so the scan at the start needs no index, and inserting touches one tree.
    /// A row of the journal has several lines, and the number of the last of them as its own.
    /// `run` and `journal` grow at one end and are trimmed at the other; `size` is the number of
    /// bytes written to the table up to this row, so that the size of any stretch is one
    /// subtraction.
    private static let first = """
        CREATE TABLE meta (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            incarnation INTEGER NOT NULL,
            clean INTEGER NOT NULL,
            copied INTEGER NOT NULL
        ) STRICT;
        INSERT INTO meta VALUES (1, 0, 1, 0);

        CREATE TABLE request (
            id BLOB PRIMARY KEY NOT NULL,
            task TEXT NOT NULL,
            parameters TEXT NOT NULL,
            submitted_at INTEGER NOT NULL,
            earliest_begin INTEGER,
            latest_begin INTEGER,
            priority INTEGER NOT NULL,
            requirements INTEGER NOT NULL,
            simulated INTEGER NOT NULL,
            slot INTEGER,
            missed_count INTEGER,
            missed_from INTEGER,
            submitter INTEGER NOT NULL,
            submitter_run BLOB,
            failures INTEGER NOT NULL,
            losses INTEGER NOT NULL,
            interruptions INTEGER NOT NULL,
            died_at INTEGER,
            dead_run BLOB,
            dead_reason TEXT,
            sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX request_dead ON request (died_at, dead_run) WHERE died_at IS NOT NULL;

        CREATE TABLE lease (
            \(runColumns),
            PRIMARY KEY (request)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE run (
            seq INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            size INTEGER NOT NULL,
            \(runColumns)
        ) STRICT;
        CREATE INDEX run_id ON run (id);
        CREATE INDEX run_request ON run (request);
        CREATE INDEX run_task ON run (task);

        CREATE TABLE task (
            identifier TEXT PRIMARY KEY NOT NULL,
            debt_points INTEGER NOT NULL,
            debt_changed_at INTEGER NOT NULL,
            debt_last_end INTEGER NOT NULL,
            last_slot INTEGER,
            schedule TEXT NOT NULL,
            scheduled_since INTEGER,
            sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE switched_off (
            plugin TEXT PRIMARY KEY NOT NULL,
            reason TEXT NOT NULL,
            sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE journal (
            seq INTEGER PRIMARY KEY,
            count INTEGER NOT NULL,
            at INTEGER NOT NULL,
            size INTEGER NOT NULL,
            requests INTEGER NOT NULL,
            places INTEGER NOT NULL,
            lines BLOB NOT NULL,
            sum INTEGER NOT NULL
        ) STRICT;

        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = 1;
        """

    /// Columns that came later are NULL in the rows of before, see `Arguments.addLater`.
    private static let second = """
        ALTER TABLE task ADD COLUMN parked_since INTEGER;
        ALTER TABLE task ADD COLUMN served TEXT;
        ALTER TABLE request ADD COLUMN tolerance INTEGER;
        CREATE TABLE runtime (
            minute INTEGER NOT NULL,
            plugin TEXT NOT NULL,
            kind TEXT NOT NULL,
            nanoseconds INTEGER NOT NULL,
            sum INTEGER NOT NULL,
            PRIMARY KEY (minute, plugin, kind)
        ) STRICT, WITHOUT ROWID;
        PRAGMA user_version = 2;
        """

    private static let third = """
        CREATE TABLE notification (
            plugin TEXT NOT NULL,
            id TEXT NOT NULL,
            key BLOB NOT NULL,
            token TEXT NOT NULL,
            state INTEGER NOT NULL,
            posted_at INTEGER NOT NULL,
            due INTEGER NOT NULL,
            occurrence INTEGER NOT NULL,
            failures INTEGER NOT NULL,
            not_before INTEGER NOT NULL,
            replaces INTEGER NOT NULL,
            delivered_at INTEGER,
            fault TEXT NOT NULL,
            level INTEGER NOT NULL,
            title TEXT NOT NULL,
            subtitle TEXT NOT NULL,
            body TEXT NOT NULL,
            thread TEXT NOT NULL,
            category TEXT NOT NULL,
            user_info TEXT NOT NULL,
            actions TEXT NOT NULL,
            repeats TEXT NOT NULL,
            calendar TEXT NOT NULL,
            sum INTEGER NOT NULL,
            PRIMARY KEY (plugin, id)
        ) STRICT, WITHOUT ROWID;
        PRAGMA user_version = 3;
        """

    private static let fourth = """
        CREATE TABLE quarantine (
            plugin TEXT PRIMARY KEY NOT NULL,
            library TEXT NOT NULL,
            host TEXT NOT NULL,
            since INTEGER NOT NULL,
            reason TEXT NOT NULL,
            sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        PRAGMA user_version = 4;
        """

    private static let fifth = """
        ALTER TABLE task ADD COLUMN uses TEXT;
        ALTER TABLE request ADD COLUMN aim INTEGER;
        PRAGMA user_version = 5;
        """

    private static let runColumns = """
        id BLOB NOT NULL,
            request BLOB NOT NULL,
            task TEXT NOT NULL,
            plugin TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            state TEXT NOT NULL,
            outcome INTEGER,
            outcome_detail INTEGER,
            stop_reason INTEGER,
            message TEXT NOT NULL,
            result TEXT NOT NULL,
            progress_done INTEGER,
            progress_total INTEGER,
            progress_phase TEXT,
            runtime_s INTEGER NOT NULL,
            runtime_as INTEGER NOT NULL,
            grace_s INTEGER NOT NULL,
            grace_as INTEGER NOT NULL,
            pid INTEGER,
            submitted_at INTEGER NOT NULL,
            started_at INTEGER,
            ended_at INTEGER,
            duration_s INTEGER,
            duration_as INTEGER,
            cpu_s INTEGER,
            cpu_as INTEGER,
            peak_memory INTEGER,
            output_bytes INTEGER NOT NULL,
            sum INTEGER NOT NULL
        """
}
