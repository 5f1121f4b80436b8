// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Adds the audit: what others did to the daemon, as a chain of hashes.
    ///
    /// `size` is the number of bytes written to the table up to this row, and no part of the chain.
    /// `audit_anchor` has the last row that was deleted for its age or for room: the oldest row that
    /// is left continues from its sum.
    static let audit = """
        CREATE TABLE audit (
            seq INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            size INTEGER NOT NULL,
            via TEXT NOT NULL,
            uid INTEGER,
            pid INTEGER,
            user TEXT NOT NULL,
            session TEXT NOT NULL,
            verb TEXT NOT NULL,
            target TEXT NOT NULL,
            digest BLOB NOT NULL,
            status TEXT NOT NULL,
            code TEXT NOT NULL,
            refs TEXT NOT NULL,
            prev BLOB NOT NULL,
            sum BLOB NOT NULL
        ) STRICT;
        CREATE TABLE audit_anchor (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            seq INTEGER NOT NULL,
            size INTEGER NOT NULL,
            sum BLOB NOT NULL
        ) STRICT;
        INSERT INTO audit_anchor VALUES (1, 0, 0, zeroblob(32));
        """

    /// Adds what a row's verb changed; rows from before have nothing there.
    static let auditDetail = """
        ALTER TABLE audit ADD COLUMN detail TEXT NOT NULL DEFAULT '';
        """
}
