// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

extension ManifestKeys {
    /// The keys of a task that relate it to other tasks.
    static let relations = [
        ManifestKey(
            "tags",
            .list(of: .tag),
            default: "[]",
            """
            Names by which commands select several tasks at once, as `bghost cancel --tag NAME`; \
            \(TaskTag.countMax) at most.
            """
        ),
        ManifestKey(
            "then",
            .textsOrSections(of: .identifier, follower),
            default: "[]",
            """
            Tasks that are submitted when a run of this one ends with success; \
            \(TaskFollower.countMax) at most, each an identifier or an object.
            """
        ),
    ]

    private static let follower = ManifestSection(
        noun: "follower",
        keys: [
            ManifestKey(
                "task",
                .text(.identifier),
                required: true,
                "The identifier of the task: that of `tasks`, or one of a family."
            ),
            ManifestKey(
                "parameters",
                .word(["own", "result"], reserved: []),
                default: "\"own\"",
                """
                What its run gets: own is its `parameters`; result lays the result of this run over \
                them, by key.
                """
            ),
            ManifestKey(
                "onConflict",
                .word(ConflictPolicy.allCases.map(\.rawValue), reserved: []),
                default: "\"replace\"",
                """
                What becomes of a request of it that is pending: it is replaced, it is kept and none \
                is submitted, it is replaced by one with the same dates, or the new one is appended and \
                begins after it.
                """
            ),
        ]
    )
}
