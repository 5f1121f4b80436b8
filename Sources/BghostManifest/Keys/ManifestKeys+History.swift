// SPDX-License-Identifier: Apache-2.0

/// The keys that limit the history.
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
