// SPDX-License-Identifier: Apache-2.0

extension ManifestKeys {
    static let session = ManifestSection(
        noun: "session",
        keys: [
            ManifestKey(
                "plugin",
                .text(.pluginName),
                required: true,
                "The plugin whose transfers these are."
            ),
            ManifestKey(
                "handler",
                .text(.handlerName),
                """
                The handler that is told when all transfers of the session have ended; the default \
                is urlSession. and the session's name.
                """
            ),
            ManifestKey(
                "launchEvents",
                .flag,
                default: "true",
                """
                Whether that handler is run; without it, what has ended waits until a run asks for \
                it.
                """
            ),
            ManifestKey(
                "discretionary",
                .flag,
                default: "false",
                """
                Whether all its transfers wait for external power, an unmetered network and an idle \
                machine.
                """
            ),
            ManifestKey(
                "resourceTimeout",
                .duration(1000...365 * day),
                default: "\"7d\"",
                "The longest that one transfer may take with all its attempts."
            ),
            ManifestKey(
                "fileSize",
                .size(1...1 << 50),
                default: "\"64GiB\"",
                "The largest file that one transfer may bring or send."
            ),
            ManifestKey("limits", .section(runLimits), "How long one run of the handler may take."),
            override,
        ]
    )
}
