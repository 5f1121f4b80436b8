// SPDX-License-Identifier: Apache-2.0

/// The row with the manifest that the daemon took up last.
enum ManifestColumns {
    /// The version of the store that brought the table.
    static let version: Int32 = 12

    static let migration = """
        CREATE TABLE manifest (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            text TEXT NOT NULL,
            sum INTEGER NOT NULL
        ) STRICT;
        """

    static let names = "one, text, sum"
    static let count = 3

    static func bind(_ text: String, to row: inout Arguments) {
        row.add(1)
        row.add(text)
        row.addSum()
    }

    static func read(_ connection: Connection) throws(SQLiteFailure) -> String? {
        var text: String?
        let rows = try Statement("SELECT \(names) FROM manifest", on: connection)
        try rows.rows { row throws(SQLiteFailure) in
            row.restartSum()
            // The number of the row, which is read for the checksum.
            _ = row.int()
            text = row.text()
            try row.checkSum("the manifest before")
            return true
        }
        return text
    }
}

extension ChangeWriter {
    /// Replaces the manifest that the next daemon compares with its own.
    func keep(manifest text: String) throws(SQLiteFailure) {
        try statements.manifest.run { ManifestColumns.bind(text, to: &$0) }
        countChange()
    }
}
