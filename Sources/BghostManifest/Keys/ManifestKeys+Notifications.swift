// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

extension ManifestKeys {
    static let notifications = ManifestSection(
        noun: "section `notifications`",
        keys: [
            ManifestKey(
                "task",
                .text(.identifierPattern),
                required: true,
                """
                The task that delivers, as it stands in `tasks`. An exact identifier delivers one \
                after the other, a family several at once.
                """
            ),
            ManifestKey(
                "rate",
                .section(notificationRate),
                "How many of one plugin are delivered within a time; more are told of as one."
            ),
            ManifestKey(
                "expiry",
                .duration(60_000...90 * day),
                default: "\"7d\"",
                "How long a delivery is tried, and how long an answer to it counts."
            ),
            ManifestKey(
                "actionLink",
                .flag,
                default: "false",
                "Whether actions can be taken through links to this machine, from this machine."
            ),
            ManifestKey(
                "actionPort",
                .whole(1...65535),
                default: "\(NotificationSettings.defaultActionPort)",
                "The port of 127.0.0.1 at which these links are served."
            ),
        ]
    )

    private static let notificationRate = ManifestSection(
        noun: "section `rate`",
        keys: [
            ManifestKey("count", .whole(1...1000), default: "30", "How many."),
            ManifestKey("per", .duration(1000...day), default: "\"1h\"", "Within how long."),
        ]
    )
}
