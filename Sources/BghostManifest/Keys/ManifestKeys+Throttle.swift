// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

extension ManifestKeys {
    /// The key that sets when late runs delay the next runs of a task.
    static let throttle = ManifestKey(
        "throttle",
        .wordOrSection(ThrottlePolicy.Mode.allCases.map(\.rawValue), throttling),
        default: "\"on\"",
        """
        Whether runs that do not stop in time delay the next ones: on, off, or dryRun, which shows \
        the delays and enforces none; or an object with the limits.
        """
    )

    private static let throttling = ManifestSection(
        noun: "section `throttle`",
        keys: [
            ManifestKey(
                "dryRun",
                .flag,
                default: "false",
                "Whether delays are shown and not enforced."
            ),
            ManifestKey(
                "stopWithin",
                .duration(1...600_000),
                """
                How long after it was asked to stop a run may go on without earning a throttle point; \
                the default is half of its grace.
                """
            ),
            ManifestKey(
                "delayMax",
                .duration(60_000...day),
                default: "\"24h\"",
                "The longest delay between the end of a run and the next start."
            ),
        ]
    )
}
