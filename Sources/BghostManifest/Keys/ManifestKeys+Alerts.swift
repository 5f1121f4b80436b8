// SPDX-License-Identifier: Apache-2.0

/// The keys about alerts and the heartbeat.
extension ManifestKeys {
    /// Whom the daemon tells of what.
    static let reports = [
        ManifestKey(
            "alerts",
            .section(alerts),
            "Whom the daemon tells of trouble; without this section it sends no alerts."
        ),
        ManifestKey(
            "heartbeat",
            .section(heartbeat),
            "Where the daemon reports that it lives, so that another machine notices its end."
        ),
    ]

    private static let alerts = ManifestSection(
        noun: "section `alerts`",
        keys: [
            ManifestKey(
                "to",
                .sections(of: receiver),
                required: true,
                "Who gets each message, one to eight."
            ),
            ManifestKey(
                "repeat",
                .duration(1000...30 * day),
                default: "\"4h\"",
                "After this time a message says again what still fires."
            ),
            ManifestKey(
                "digest",
                .duration(0...hour),
                default: "\"1m\"",
                "What happens within this time is told in one message."
            ),
            ManifestKey(
                "mute",
                .list(of: .muteWindow),
                default: "[]",
                """
                When no message is sent, in the zone of the host, such as sat 02:00-04:00; what still \
                fires at the end is told then.
                """
            ),
        ]
    )

    static let receiver = ManifestSection(
        noun: "receiver",
        keys: [
            ManifestKey("webhook", .text(.webAddress), "A URL that gets a POST with JSON."),
            ManifestKey("headers", .settings, "Headers of the webhook, by name."),
            ManifestKey(
                "secret",
                .text(.secretText),
                "Signs the body of the webhook by HMAC-SHA256, in the header X-Bghost-Signature."
            ),
            ManifestKey(
                "ntfy",
                .text(.webAddress),
                "The URL of a topic of ntfy, such as https://ntfy.sh/topic."
            ),
            ManifestKey("token", .text(.secretText), "The access token of ntfy."),
            ManifestKey(
                "command",
                .list(of: .argument),
                """
                A program's absolute path and its arguments; it gets the text on its standard input, \
                and has 30 seconds.
                """
            ),
            ManifestKey(
                "to",
                .text(.mailAddress),
                "For a command: the text is an e-mail to this address, with its header."
            ),
            ManifestKey(
                "task",
                .text(.identifierPattern),
                "The task of the section `notifications`, which delivers it as a notification."
            ),
        ],
        alternatives: ["webhook", "ntfy", "command", "task"]
    )

    private static let heartbeat = ManifestSection(
        noun: "section `heartbeat`",
        keys: [
            ManifestKey(
                "url",
                .text(.webAddress),
                required: true,
                "An address of healthchecks.io, or a push address of Uptime Kuma."
            ),
            ManifestKey(
                "every",
                .duration(1000...day),
                default: "\"1m\"",
                "From one report to the next; the first comes at the start."
            ),
        ]
    )

    /// What an operator expects of a task.
    static let expect = ManifestKey(
        "expect",
        .flagOrSection(
            ManifestSection(
                noun: "section `expect`",
                keys: [
                    ManifestKey(
                        "every",
                        .duration(1000...3660 * day),
                        "The longest time between two successful runs."
                    ),
                    ManifestKey(
                        "start",
                        .duration(1000...365 * day),
                        """
                        How late a request may start, not counting what the manifest itself makes it \
                        wait for; with a schedule, 5m if absent.
                        """
                    ),
                    ManifestKey(
                        "runtime",
                        .duration(1...day),
                        "How long a run usually takes, at the most."
                    ),
                    ManifestKey(
                        "failures",
                        .whole(1...1000),
                        "How many failed runs in a row are too many; with a schedule, 3 if absent."
                    ),
                ]
            )
        ),
        default: "true",
        """
        What makes an alert. True: of a task with a schedule, late starts and failures in a row; false: \
        nothing.
        """
    )
}
