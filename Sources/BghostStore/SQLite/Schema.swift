// SPDX-License-Identifier: Apache-2.0

/// The tables of the store, and the migrations from older versions.
enum Schema {
    /// The number of the last migration.
    static let version = format.version

    /// In the header of the file: the letters `bghs`.
    static let format = DatabaseFormat(
        applicationID: 0x6267_6873,
        migrations: [
            first, second, third, fourth, fifth, sixth, seventh, PauseColumns.migration, audit,
            AlertColumns.migration, auditDetail, ManifestColumns.migration,
            CheckpointColumns.migration, TraceColumns.migration,
            SubmitterColumns.migration, RunDayColumns.migration,
            ClosingTotals.migration,
        ]
    )

    /// The first version.
    ///
    /// A request's row stays in place while it is leased. The small table `lease` contains the
    /// leases and their runs, so it has as many rows as there are running runs.
    ///
    /// `request` and `lease` are ordered by id, which is the order of submission: so the scan at
    /// the start needs no index, and an insertion changes one tree. A row of the journal stands for
    /// the `count` changes of a transaction, and its number is that of the last one; `lines` is empty,
    /// and holds a text about each change in rows of earlier versions. `run` and `journal` grow at one
    /// end and are trimmed at the other; `size` is the number of bytes written to the table up to this
    /// row, so that the size of any range is one subtraction.
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
        """

    /// Columns added later are NULL in older rows, see `Arguments.addLater`.
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
        """

    private static let fifth = """
        ALTER TABLE task ADD COLUMN uses TEXT;
        ALTER TABLE request ADD COLUMN aim INTEGER;
        """

    /// Adds the origin of runs, why they crashed, their output, and the runs that caused
    /// throttling.
    ///
    /// `run.source` is a row of `origin`, so that values shared by thousands of runs cost each of
    /// them a byte or two. `run.output` is a row of `output`, which is read only for a run that is
    /// inspected. Both tables are trimmed separately, so a row of either may be deleted before the
    /// run.
    private static let sixth = """
        ALTER TABLE task ADD COLUMN throttle_runs TEXT;
        ALTER TABLE request ADD COLUMN submitter_plugin TEXT;
        ALTER TABLE lease ADD COLUMN kind TEXT;
        ALTER TABLE lease ADD COLUMN source INTEGER;
        ALTER TABLE lease ADD COLUMN crash TEXT;
        ALTER TABLE lease ADD COLUMN output INTEGER;
        ALTER TABLE run ADD COLUMN kind TEXT;
        ALTER TABLE run ADD COLUMN source INTEGER;
        ALTER TABLE run ADD COLUMN crash TEXT;
        ALTER TABLE run ADD COLUMN output INTEGER;
        CREATE TABLE origin (
            number INTEGER PRIMARY KEY,
            version TEXT NOT NULL,
            library TEXT NOT NULL,
            manifest TEXT NOT NULL,
            sum INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE output (
            seq INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            size INTEGER NOT NULL,
            lines TEXT NOT NULL,
            sum INTEGER NOT NULL
        ) STRICT;
        """

    /// Lets the history be trimmed in between and searched.
    ///
    /// `output.success` says that a run has succeeded, whose output is deleted first. `extent` has
    /// the number and the size of the rows that `run` and `output` lack between their first and last
    /// row; without it, a start would have to count them. `start` has the starts that did not happen,
    /// or happened late. The partial indexes have the few runs that
    /// did not succeed.
    private static let seventh = """
        ALTER TABLE output ADD COLUMN success INTEGER;
        UPDATE output SET success = 1 WHERE seq IN
            (SELECT output FROM run WHERE outcome = 0 AND output IS NOT NULL);
        CREATE INDEX output_success ON output (seq) WHERE success = 1;
        CREATE TABLE extent (
            name TEXT PRIMARY KEY NOT NULL,
            missing_rows INTEGER NOT NULL,
            missing_bytes INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE start (
            seq INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            task TEXT NOT NULL,
            kind TEXT NOT NULL,
            request BLOB,
            due INTEGER NOT NULL,
            until INTEGER NOT NULL,
            count INTEGER NOT NULL,
            cause TEXT NOT NULL,
            cause_since INTEGER,
            sum INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX start_task ON start (task, due);
        CREATE INDEX start_due ON start (due);
        CREATE INDEX run_plugin ON run (plugin);
        CREATE INDEX run_failed ON run (seq) WHERE outcome <> 0;
        CREATE INDEX run_failed_task ON run (task) WHERE outcome <> 0;
        CREATE INDEX run_failed_plugin ON run (plugin) WHERE outcome <> 0;
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
