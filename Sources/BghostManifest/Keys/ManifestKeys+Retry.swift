// SPDX-License-Identifier: Apache-2.0

extension ManifestKeys {
    static let retry = ManifestSection(
        noun: "section `retry`",
        keys: [
            ManifestKey(
                "policy",
                .word(["none", "exponential"], reserved: []),
                required: true,
                """
                none: what did not succeed is gone unless its handler submits again, which is the \
                default of refresh. exponential: it is repeated, later each time, which is the \
                default of processing.
                """
            ),
            ManifestKey(
                "base",
                .duration(1...day),
                default: "\"30s\"",
                "The most that the first repetition is delayed; each further one twice that."
            ),
            ManifestKey(
                "cap",
                .duration(1...30 * day),
                default: "\"5h\"",
                "The most that any repetition is delayed."
            ),
            ManifestKey(
                "max",
                .whole(1...1000),
                default: "5",
                "How often a handler may fail until its request is kept as a dead letter."
            ),
            ManifestKey(
                "lossLimit",
                .whole(1...1000),
                default: "3",
                "How often its worker may die until its request is kept as a dead letter."
            ),
        ]
    )
}
