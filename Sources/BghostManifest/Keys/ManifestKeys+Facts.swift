// SPDX-License-Identifier: Apache-2.0

extension ManifestKeys {
    /// Facts about the machine that the daemon cannot detect.
    static let facts = ManifestSection(
        noun: "section `facts`",
        keys: [
            ManifestKey(
                "ups",
                .text(.upsAddress),
                """
                The server of Network UPS Tools that knows the supply of this machine, as \
                ups@host:port; without it only the kernel's power supplies count.
                """
            ),
            ManifestKey(
                "meteredLinks",
                .list(of: .linkName),
                "The network links that cost by the byte, such as wwan0; without it none is known to."
            ),
            ManifestKey(
                "probes",
                .definitions(of: probe, names: .pluginName),
                default: "{}",
                "Programs that say whether something holds, eight at the most, by names for `requires`."
            ),
        ]
    )

    private static let probe = ManifestSection(
        noun: "probe",
        keys: [
            ManifestKey(
                "run",
                .list(of: .argument),
                required: true,
                """
                The program's absolute path and its arguments. It exits with 0 if it holds, with 1 if \
                not, and with anything else if it cannot tell.
                """
            ),
            ManifestKey(
                "interval",
                .duration(1000...day),
                default: "\"30s\"",
                "From one look to the next."
            ),
            ManifestKey(
                "timeout",
                .duration(100...600_000),
                default: "\"10s\"",
                "How long a look may take; it is killed then, and could not tell."
            ),
        ]
    )
}
