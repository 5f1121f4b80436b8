// SPDX-License-Identifier: Apache-2.0

/// The keys that limit the history and the audit.
extension ManifestKeys {
    static let history = ManifestSection(
        noun: "section `history`",
        keys: [
            ManifestKey(
                "runs",
                .whole(1...100_000_000),
                default: "100000",
                "How many ended runs are kept."
            ),
            ManifestKey(
                "age",
                .duration(60_000...3660 * day),
                default: "\"30d\"",
                "How long after its end a run is kept."
            ),
            ManifestKey(
                "size",
                .size(mebibyte...1024 * 1024 * mebibyte),
                default: "\"256MiB\"",
                "The approximate size of all runs that are kept, without their output."
            ),
            ManifestKey(
                "output",
                .size(mebibyte...1024 * 1024 * mebibyte),
                default: "\"64MiB\"",
                """
                The approximate size of the output that is kept, at most 64KiB of a run; that of \
                successful runs is deleted first.
                """
            ),
            ManifestKey(
                "rollups",
                .whole(1...3660),
                default: "400",
                """
                Of how many days on which a run ended the sums of runs by task are kept, which stay when \
                the runs are deleted.
                """
            ),
        ]
    )

    /// What the daemon keeps of what happened, and whom it tells.
    static let records =
        [
            ManifestKey("history", .section(history), "How much history of runs is kept."),
            ManifestKey("audit", .section(audit), "How what others do to the daemon is noted."),
            ManifestKey("log", .section(log), "How the log is written."),
            fleet,
        ] + reports + [traces]

    static let audit = ManifestSection(
        noun: "section `audit`",
        keys: [
            ManifestKey(
                "required",
                .flag,
                default: "true",
                "Whether the daemon refuses what it cannot note, as on a full disk."
            ),
            ManifestKey(
                "submissions",
                .flag,
                default: "false",
                "Whether submissions of clients are noted too; manual runs are in any case."
            ),
            ManifestKey(
                "rows",
                .whole(1000...10_000_000),
                default: "100000",
                "How many rows are kept."
            ),
            ManifestKey(
                "age",
                .duration(60_000...3660 * day),
                default: "\"365d\"",
                "How long a row is kept."
            ),
            ManifestKey(
                "size",
                .size(mebibyte...1024 * 1024 * mebibyte),
                default: "\"64MiB\"",
                "The approximate size of all rows that are kept."
            ),
        ]
    )

    static let taskHistory = ManifestSection(
        noun: "section `history`",
        keys: [
            ManifestKey(
                "runs",
                .whole(1...100_000),
                "How many ended runs of each of its identifiers are kept, fewer than the host keeps."
            ),
            ManifestKey(
                "age",
                .duration(60_000...3660 * day),
                "How long after its end a run is kept, less than the host keeps it."
            ),
        ]
    )
}
