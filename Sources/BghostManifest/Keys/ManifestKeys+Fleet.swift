// SPDX-License-Identifier: Apache-2.0

/// The keys about several hosts with one database.
extension ManifestKeys {
    static let fleet = ManifestKey(
        "fleet",
        .section(
            ManifestSection(
                noun: "section `fleet`",
                keys: [
                    ManifestKey(
                        "connection",
                        .text(.secretText),
                        required: true,
                        "The PostgreSQL database of the fleet, as a URL or a connection string of libpq."
                    ),
                    ManifestKey(
                        "name",
                        .text(.secretText),
                        required: true,
                        "The name of this host, which no other host of the fleet has."
                    ),
                    ManifestKey(
                        "lease",
                        .duration(5000...600_000),
                        default: "\"30s\"",
                        "How long the others wait after this host's last sign of life."
                    ),
                ]
            )
        ),
        "The fleet of which this host is a member, for tasks with `runs`: onceInFleet or inFleet."
    )

    static let runs = ManifestKey(
        "runs",
        .word(["onEachHost", "onceInFleet", "inFleet"], reserved: []),
        default: "\"onEachHost\"",
        """
        Which hosts run it: onEachHost is every host by itself, onceInFleet is one host of `host.fleet` for \
        each time of the calendar. With inFleet its submitted requests live in the database of `host.fleet`.
        """
    )
}
