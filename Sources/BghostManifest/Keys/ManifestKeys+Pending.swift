// SPDX-License-Identifier: Apache-2.0

extension ManifestKeys {
    static let maxPending = ManifestSection(
        noun: "section `maxPending`",
        keys: [
            ManifestKey(
                "refresh",
                .whole(1...1_000_000),
                default: "1",
                "Pending requests of refresh tasks, of all its identifiers together."
            ),
            ManifestKey(
                "processing",
                .whole(1...1_000_000),
                default: "10",
                "Pending requests of processing tasks, of all its identifiers together."
            ),
        ]
    )

    static let runtimePerDay = ManifestSection(
        noun: "section `runtimePerDay`",
        keys: [
            ManifestKey(
                "refresh",
                .duration(1000...30 * day),
                "All runs of refresh tasks together, by the monotonic clock."
            ),
            ManifestKey(
                "processing",
                .duration(1000...30 * day),
                "All runs of processing tasks together, by the monotonic clock."
            ),
        ]
    )
}
