// SPDX-License-Identifier: Apache-2.0

/// The tables of the transfers' journal, and how older ones become them.
enum TransferSchema {
    /// In the header of the file: the letters `bght`.
    static let format = DatabaseFormat(applicationID: 0x6267_6874, migrations: [first, second])

    // A transfer's request never changes and may be large; its progress changes every second and is
    // small: so they have separate tables. Texts are stored as bytes, since some come from a
    // plugin, and SQLite ends a text at the first zero byte.
    private static let first = """
        CREATE TABLE transfer (
            id BLOB PRIMARY KEY NOT NULL,
            plugin BLOB NOT NULL,
            session BLOB NOT NULL,
            key BLOB NOT NULL,
            kind BLOB NOT NULL,
            form_field BLOB,
            form_file_name BLOB,
            form_content_type BLOB,
            url BLOB NOT NULL,
            method BLOB NOT NULL,
            headers BLOB NOT NULL,
            body BLOB NOT NULL,
            file BLOB NOT NULL,
            digest BLOB,
            bytes_max INTEGER NOT NULL,
            idle_timeout INTEGER NOT NULL,
            resource_timeout INTEGER NOT NULL,
            continuation BLOB NOT NULL,
            discretionary INTEGER NOT NULL,
            label BLOB NOT NULL,
            not_before INTEGER,
            tells_session INTEGER NOT NULL,
            own_place INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            sum INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE transfer_point (
            id BLOB PRIMARY KEY NOT NULL,
            validator BLOB,
            total INTEGER,
            bytes INTEGER NOT NULL,
            boot BLOB NOT NULL,
            digest BLOB,
            upload_url BLOB,
            dialect BLOB,
            source_size INTEGER,
            source_seconds INTEGER,
            source_nanoseconds INTEGER,
            source_inode INTEGER,
            sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE transfer_status (
            id BLOB PRIMARY KEY NOT NULL,
            state BLOB NOT NULL,
            failures INTEGER NOT NULL,
            restarts INTEGER NOT NULL,
            detached INTEGER NOT NULL,
            fault_code BLOB,
            fault_detail BLOB,
            fault_status INTEGER,
            answer_status INTEGER,
            answer_headers BLOB,
            answer_body BLOB,
            answer_bytes INTEGER,
            ended_at INTEGER,
            sum INTEGER NOT NULL
        ) STRICT;
        """

    // The columns have a sum of their own, so that the rows of the first format stay as they are.
    private static let second = """
        ALTER TABLE transfer_status ADD COLUMN pause_until INTEGER;
        ALTER TABLE transfer_status ADD COLUMN pause_length INTEGER;
        ALTER TABLE transfer_status ADD COLUMN expires_at INTEGER;
        ALTER TABLE transfer_status ADD COLUMN times_sum INTEGER;
        """
}
