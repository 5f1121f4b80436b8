// SPDX-License-Identifier: Apache-2.0

/// The column with the run that submitted the request of a run, or whose success it followed.
enum SubmitterColumns {
    /// The version of the store that brought the columns: the migration's place in the list.
    static let version: Int32 = 15

    static let migration = """
        ALTER TABLE lease ADD COLUMN submitter_run BLOB;
        ALTER TABLE run ADD COLUMN submitter_run BLOB;
        """

    /// The column in a file that may not be migrated yet.
    static func name(version: Int32) -> String {
        version < Self.version ? "NULL" : "submitter_run"
    }
}
